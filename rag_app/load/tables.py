"""Tables of data: CSV and TSV in any dialect; a row reads as "header: value"."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from rag_app.load.parsed import Fault, Parsed, ReadOptions, TextBuilder, clean
from rag_app.load.text import decoded

_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"^[-+(]?[\d.,' %$€£]*\d[\d.,' %$€£)]*$")
_LIMIT = 10 * 1024 * 1024


def read_csv(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """One line a row, `header: value; header: value`; rows without a header line stay `value; value`."""
    text, note = decoded(data)
    delimiter = "\t" if name.lower().endswith(".tsv") else detect_delimiter(text)
    csv.field_size_limit(_LIMIT)
    try:
        rows = list(csv.reader(io.StringIO(text.replace("\x00", ""), newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise Fault("broken", f"cannot be read as a table: {error}") from None
    title, header, body = split_header(rows)
    builder = TextBuilder()
    if title:
        builder.block(title)
    for line in row_lines(header, body):
        builder.block(line, gap="\n")
    metadata = {**note, "rows": len(body), "columns": max((len(row) for row in rows), default=0)}
    return [builder.build("csv", {**metadata, **({"title": title} if title else {})})]


def detect_delimiter(text: str) -> str:
    """The delimiter that cuts the first lines into the same number of fields, more than one; a comma when none does."""
    lines = text.splitlines(keepends=True)[:60]
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        try:
            counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        if not counts:
            continue
        usual = max(set(counts), key=lambda n: (counts.count(n), n))
        score = counts.count(usual) / len(counts) * (1 + 0.01 * min(usual, 20)) if usual > 1 else 0.0
        if score > best_score + 1e-9:
            best, best_score = delimiter, score
    # Prose with a comma here and there is one column, not a ragged table.
    return best if best_score >= 0.6 else "\x1f"


def split_header(rows: Sequence[Sequence[str]]) -> tuple[str, list[str], list[list[str]]]:
    """A title line (one cell above the header), the header ([] when the first row holds data), and the rows."""
    table = [[clean(cell) for cell in row] for row in rows]
    table = [row for row in table if any(row)]
    title = ""
    if len(table) > 1 and sum(map(bool, table[0])) == 1 and sum(map(bool, table[1])) > 1 and table[0][0]:
        title, table = table[0][0], table[1:]
    if not table:
        return title, [], []
    first = table[0]
    if len(table) > 1 and len(first) > 1 and all(first) and not any(_NUMBER.match(cell) for cell in first):
        return title, first, table[1:]
    if len(first) > 1 and len(table) > 1 and sum(map(bool, first)) >= len(first) - 1 and _typed(table):
        return title, first, table[1:]
    return title, [], table


def _typed(table: Sequence[Sequence[str]]) -> bool:
    """Some column has numbers below a first cell that is none (a year over amounts counts as none)."""
    for column in range(len(table[0])):
        below = [row[column] for row in table[1:] if column < len(row) and row[column]]
        head = table[0][column]
        if (
            below
            and all(map(_NUMBER.match, below))
            and (not _NUMBER.match(head) or re.fullmatch("(19|20)\\d\\d", head))
        ):
            return True
    return False


def row_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Each row as `header: value; header: value`; cells beyond the header have their number, empty ones no place."""
    for row in rows:
        cells = []
        for place, cell in enumerate(row):
            if not cell:
                continue
            name = header[place] if place < len(header) else (f"column {place + 1}" if header else "")
            cells.append(f"{name}: {cell}" if name else cell)
        yield "; ".join(cells)


def pipe_table(rows: Sequence[Sequence[str]], *, header: bool = True) -> str:
    """A small table inside a text, as Markdown writes it: `| a | b |`."""
    table = [[clean(cell).replace("|", "\\|") for cell in row] for row in rows]
    table = [row for row in table if any(row)]
    if not table:
        return ""
    width = max(map(len, table))
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in table]
    if header and len(lines) > 1:
        lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)
