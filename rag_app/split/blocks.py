"""The blocks of a readable text: headings, tables, fenced code, paragraphs; each with its span."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from rag_app.types import Heading, Span

BlockKind = Literal["heading", "table", "code", "text"]

_LINE = re.compile(r"[^\n]*\n?")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_WIKI = re.compile(r"[ \t]*(=(?: ?=){0,5}) (?=\S)(.+?\S) \1[ \t]*$")
_PIPES = re.compile(r"[^\n|]*\|[^\n]*\|?")
_RAW_HEADING = re.compile(r"<h([1-6])\b[^<>]*>(.{0,1000}?)</h\1\s*>", re.IGNORECASE | re.DOTALL)
_RAW_TABLE = re.compile(r"<(/?)(table|pre)\b", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")


class Block(NamedTuple):
    """A stretch of whole lines; `level` is a heading's, 0 for other blocks."""

    span: Span
    kind: BlockKind
    level: int = 0
    title: str = ""


def find_blocks(text: str, headings: Sequence[Heading] | None = None) -> list[Block]:
    """The blocks of `text` in order; together they hold every non-space character.

    Headings are those given (a loader knows them), else the ones that the text shows: Markdown's `#` and underlined
    forms, and `= Title =`. Tables are runs of two or more lines with cells between bars. Linear time.
    """
    starts = None if headings is None else {heading.start: heading for heading in headings}
    return [block for run in _runs(text, starts) for block in run]


def _runs(text: str, starts: dict[int, Heading] | None) -> Iterator[list[Block]]:
    lines = [(match.start(), match.group()) for match in _LINE.finditer(text) if match.group()]
    index, gathered = 0, []
    while index < len(lines):
        start, line = lines[index]
        heading = _heading(lines, index, starts)
        fence = _FENCE.match(line)
        taken = 0
        if heading is not None:
            taken = heading[0]
        elif fence is not None:
            taken = _fence_length(lines, index, fence.group(1))
        elif _is_row(line):
            taken = _table_length(lines, index)
        if not taken:
            if line.strip():
                gathered.append(index)
            elif gathered:
                yield [_text_block(lines, gathered)]
                gathered = []
            index += 1
            continue
        if gathered:
            yield [_text_block(lines, gathered)]
            gathered = []
        last_start, last = lines[index + taken - 1]
        span = Span(start, last_start + len(last))
        if heading is not None:
            yield [Block(span, "heading", heading[1], heading[2])]
        else:
            yield [Block(span, "code" if fence else "table")]
        index += taken
    if gathered:
        yield [_text_block(lines, gathered)]


def _text_block(lines: list[tuple[int, str]], indices: list[int]) -> Block:
    last_start, last = lines[indices[-1]]
    return Block(Span(lines[indices[0]][0], last_start + len(last)), "text")


def _heading(
    lines: list[tuple[int, str]], index: int, starts: dict[int, Heading] | None
) -> tuple[int, int, str] | None:
    """Lines, level and title of the heading that begins with this line; None when it is none."""
    start, line = lines[index]
    if starts is not None:
        known = starts.get(start) or starts.get(start + len(line) - len(line.lstrip()))
        return (1, known.level, known.title) if known is not None and line.strip() else None
    atx = _ATX.match(line.rstrip("\n"))
    if atx is not None:
        return 1, len(atx.group(1)), atx.group(2)
    wiki = _WIKI.match(line.rstrip("\n")) if len(line) < 200 else None
    if wiki is not None:
        return 1, wiki.group(1).count("="), wiki.group(2)
    alone = index == 0 or not lines[index - 1][1].strip()
    if alone and line.strip() and index + 1 < len(lines) and len(line) < 200:
        underline = _UNDERLINE.match(lines[index + 1][1].rstrip("\n"))
        if underline is not None and len(underline.group(1)) >= 3 and not _is_row(line):
            return 2, 1 if underline.group(1)[0] == "=" else 2, line.strip()
    return None


def _fence_length(lines: list[tuple[int, str]], index: int, mark: str) -> int:
    """Lines of the fenced code that opens here; up to the end of the text when nothing closes it."""
    for place in range(index + 1, len(lines)):
        closing = lines[place][1].strip()
        if closing.startswith(mark) and not closing.strip(mark[0]):
            return place + 1 - index
    return len(lines) - index


def _is_row(line: str) -> bool:
    return line.count("|") >= 1 and (line.lstrip().startswith("|") or " | " in line)


def _table_length(lines: list[tuple[int, str]], index: int) -> int:
    taken = 0
    while index + taken < len(lines) and _is_row(lines[index + taken][1]):
        taken += 1
    return taken if taken > 1 else 0


def raw_html_headings(text: str) -> list[Heading]:
    """The `<h1>` to `<h6>` of HTML source, each where its tag begins."""
    return [
        Heading(start=m.start(), level=int(m.group(1)), title=" ".join(_TAG.sub(" ", m.group(2)).split()))
        for m in _RAW_HEADING.finditer(text)
    ]


def raw_html_tables(text: str) -> list[Span]:
    """The outermost `<table>` and `<pre>` elements of HTML source."""
    found: list[Span] = []
    depth, start = 0, 0
    for match in _RAW_TABLE.finditer(text):
        if not match.group(1):
            start = match.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                close = text.find(">", match.end())
                found.append(Span(start, close + 1 if close >= 0 else len(text)))
    return found


def path_over(places: Sequence[tuple[int, tuple[str, ...]]], span: Span) -> tuple[str, ...] | None:
    """The section path of a chunk, from what `section_paths` gave; None when no heading stands before its end.

    What stands before the first heading belongs to the section that the chunk goes on with.
    """
    at = bisect.bisect_right(places, span.start, key=lambda place: place[0])
    at = at or int(bool(places) and places[0][0] < span.end)
    return places[at - 1][1] if at else None
