"""Table cells: a number that the claim gives to one row must stand in that row."""

from __future__ import annotations

from collections.abc import Iterator

from rag_app.cite.segments import blocks, cells
from rag_app.types import Check, Span
from rag_app.verify.checks.base import Aligned
from rag_app.verify.quantities import Quantity, quantities_of, same_value
from rag_app.verify.words import is_function_word, words_of


def check_tables(aligned: Aligned) -> Iterator[Check]:
    """Fail where a claim names one row of a table and a value that stands only in other rows."""
    text = aligned.source.text
    if "|" not in text or not aligned.quantities:
        return
    mine = {word.stem for word in aligned.words}
    for block in blocks(text):
        if block.kind != "table":
            continue
        rows = cells(text, block.span)
        heads = rows[0] if rows else []
        named = [row for row in rows[1:] if row and _named(row[0].slice(text), mine)]
        if len(named) != 1:
            continue
        read = [(row, column, quantities_of(cell.slice(text))) for row in rows[1:] for column, cell in enumerate(row)]
        for ours in aligned.quantities:
            found = _column_of(ours, read)
            if not found or any(row is named[0] for row, _ in found):
                continue
            column = found[0][1]
            if column < len(named[0]) and column < len(heads):
                yield aligned.check("table cell", "fail", ours.span, named[0][column])


def _named(head: str, mine: set[str]) -> bool:
    stems = {word.stem for word in words_of(head) if not is_function_word(word.stem)}
    return bool(stems) and stems <= mine


def _column_of(ours: Quantity, read: list[tuple[list[Span], int, list[Quantity]]]) -> list[tuple[list[Span], int]]:
    """The rows and columns whose cell has the value."""
    return [(row, column) for row, column, held in read if any(same_value(ours, other) for other in held)]
