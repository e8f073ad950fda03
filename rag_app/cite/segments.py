"""A Markdown-ish text in blocks and sentences, every one a span: what claims and quotes are cut from.

Blocks first (code, table, list, heading, quote, paragraph), then sentences inside them; a table gives its cells.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_app.text import sentence_spans
from rag_app.types import Span

_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•‣◦–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]+(?=\S)|([ \t]*)[・●]\s*")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINITION = re.compile(r" {0,3}\[\^?[^\[\]\n]+\]:[ \t]*\S")
_CELL_BAR = re.compile(r"(?<!\\)\|")
_UNIT_STOP = re.compile(
    r"(?<=\d)[ \u00a0\u202f]?(?:[kmcdµ]?[gmslVAWJN]|[kM]?Hz|[kM]?Pa|[KMGT]i?B|min|hr?s?|sec|yrs?|days?|lbs?|oz|ft|in|"
    r"mi|mph|gal|dB|bar|°[CF]|rpm|USD|EUR|km/h|m/s|[kmc]?m[²³]|kWh?|ha)\.(?=\s+[A-ZÄÖÜ])"
)
_QUESTION = re.compile(r"[?？]['\"”’»)\]*_]*\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the text. `kind`: code | table | list | heading | quote | paragraph | definition.

    A list block is one item; `lead_in` is the paragraph that introduces the list ("The plan covers:").
    """

    kind: str
    span: Span
    lead_in: Span | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence, or a cell of a table, with the block it stands in.

    `head` are the spans of the row head and the column head of a cell; `block` counts blocks from 0.
    """

    kind: str
    span: Span
    block: int
    lead_in: Span | None = None
    head: tuple[Span, ...] = ()
    row: int = -1
    column: int = -1


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    position = 0
    for piece in text.split("\n"):
        lines.append(_Line(position, piece))
        position += len(piece) + 1
    return lines


def blocks(text: str) -> list[Block]:
    """The blocks of `text` in order, disjoint; together they hold every non-space character but rules (`---`)."""
    lines = _lines(text)
    found: list[Block] = []
    at = 0
    lead_in: Span | None = None
    while at < len(lines):
        if not lines[at].text.strip():
            at += 1
            continue
        kind, last = _read_block(lines, at)
        span = _trim(text, Span(lines[at].start, lines[last].end))
        if kind == "list":
            found.append(Block(kind, span, lead_in))
        elif kind != "rule":
            found.append(Block(kind, span))
            lead_in = span if kind in ("paragraph", "heading") and text[span.end - 1] in ":：" else None
        at = last + 1
    return found


def _read_block(lines: Sequence[_Line], at: int) -> tuple[str, int]:
    """The kind of the block that starts at line `at`, and its last line."""
    line = lines[at].text
    fence = _FENCE.match(line)
    if fence:
        close = re.compile(rf"[ \t>]*{re.escape(fence.group(1)[0])}{{{len(fence.group(1))},}}[ \t]*$")
        closed = (i for i in range(at + 1, len(lines)) if close.match(lines[i].text))
        return "code", next(closed, len(lines) - 1)
    if _HEADING.match(line):
        return "heading", at
    if _is_table(lines, at):
        return "table", _last_while(lines, at, lambda text: "|" in text and text.strip() != "")
    if _RULE.match(line):
        return "rule", at
    if _DEFINITION.match(line):
        return "definition", at
    bullet = _BULLET.match(line)
    if bullet:
        return "list", _last_while(lines, at, lambda text: bool(text.strip()) and not _opens(text))
    if _QUOTE.match(line):
        return "quote", _last_while(lines, at, lambda text: _QUOTE.match(text) is not None)
    last = at
    while last + 1 < len(lines) and lines[last + 1].text.strip() and not _opens(lines[last + 1].text):
        if _UNDERLINE.match(lines[last + 1].text):
            return "heading", last + 1
        if _is_table(lines, last + 1):
            break
        last += 1
    if last == at and last + 1 < len(lines) and _UNDERLINE.match(lines[last + 1].text):
        return "heading", last + 1
    return "paragraph", last


def _last_while(lines: Sequence[_Line], at: int, goes_on: Callable[[str], bool]) -> int:
    last = at
    while last + 1 < len(lines) and goes_on(lines[last + 1].text):
        last += 1
    return last


def _opens(line: str) -> bool:
    """Whether a line opens a block of its own in the middle of another."""
    openers = (_FENCE, _HEADING, _BULLET, _QUOTE, _RULE, _DEFINITION)
    return any(pattern.match(line) for pattern in openers) and not _UNDERLINE.match(line)


def _is_table(lines: Sequence[_Line], at: int) -> bool:
    line = lines[at].text
    if line.count("|") < 1 or not line.strip():
        return False
    if at + 1 < len(lines) and "|" in lines[at + 1].text and _DELIMITER.match(lines[at + 1].text):
        return True
    # Without a delimiter row (a chunk cut inside a table), bars at both ends mean a table.
    return line.strip().startswith("|") and line.strip().endswith("|") and line.count("|") >= 3


def _trim(text: str, span: Span) -> Span:
    piece = text[span.start : span.end]
    body = piece.strip()
    start = span.start + len(piece) - len(piece.lstrip())
    return Span(start, start + len(body))


def cells(text: str, table: Span) -> list[list[Span]]:
    """The rows of a table block as spans of their cells (trimmed, empty cells too); the delimiter row is left out."""
    rows: list[list[Span]] = []
    for line in _lines(text[table.start : table.end]):
        if not line.text.strip() or (_DELIMITER.match(line.text) and "-" in line.text):
            continue
        bars = [match.start() for match in _CELL_BAR.finditer(line.text)]
        first = len(line.text) - len(line.text.lstrip())
        edges = bars if bars and bars[0] == first else [first - 1, *bars]
        if not edges or edges[-1] < len(line.text.rstrip()) - 1:
            edges = [*edges, len(line.text)]
        offset = table.start + line.start
        rows.append([_trim(text, Span(offset + a + 1, offset + b)) for a, b in itertools.pairwise(edges) if b > a])
    return rows


def segments(text: str) -> list[Segment]:
    """Sentences and cells of `text` with their blocks, in order; code is one segment a block."""
    found: list[Segment] = []
    for number, block in enumerate(blocks(text)):
        found.extend(_segments_of(text, block, number))
    return found


def _segments_of(text: str, block: Block, number: int) -> Iterator[Segment]:
    if block.kind in ("code", "heading", "definition"):
        yield Segment(block.kind, block.span, number)
    elif block.kind == "table":
        yield from _table_segments(text, block, number)
    else:
        body = _body(text, block)
        for span in _sentences(text, body):
            sentence = _without_quote_mark(text, span)
            if sentence.start < sentence.end:
                yield Segment(block.kind, sentence, number, block.lead_in)


def _sentences(text: str, body: Span) -> Iterator[Span]:
    """Sentences of a block; a unit after a number ("12 kg. The") is no abbreviation that goes on."""
    for span in sentence_spans(text[body.start : body.end]):
        start, end = span.start + body.start, span.end + body.start
        for stop in _UNIT_STOP.finditer(text, start, end):
            yield Span(start, stop.end())
            start = stop.end() + len(text[stop.end() : end]) - len(text[stop.end() : end].lstrip())
        yield Span(start, end)


def _table_segments(text: str, block: Block, number: int) -> Iterator[Segment]:
    rows = cells(text, block.span)
    lines = text[block.span.start : block.span.end].split("\n")
    has_head = len(lines) > 1 and _DELIMITER.match(lines[1]) is not None
    for row_number, row in enumerate(rows):
        if row_number == 0 and has_head:
            continue
        for column, cell in enumerate(row):
            if cell.start == cell.end:
                continue
            column_head = rows[0][column] if has_head and column < len(rows[0]) else None
            heads = tuple(h for h in ((row[0] if column else None), column_head) if h is not None and h.start < h.end)
            yield Segment("table", cell, number, None, heads, row_number, column)


def _body(text: str, block: Block) -> Span:
    """The block without its bullet or quote mark."""
    mark = _BULLET.match(text, block.span.start) if block.kind == "list" else None
    mark = mark or (_QUOTE.match(text, block.span.start) if block.kind == "quote" else None)
    return _trim(text, Span(mark.end() if mark else block.span.start, block.span.end))


def _without_quote_mark(text: str, span: Span) -> Span:
    mark = _QUOTE.match(text, span.start, span.end)
    return _trim(text, Span(mark.end(), span.end)) if mark else span


def is_question(text: str) -> bool:
    """Whether a sentence ends as a question does."""
    return _QUESTION.search(text) is not None


__all__ = ["Block", "Segment", "blocks", "cells", "is_question", "segments"]
