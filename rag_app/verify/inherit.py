"""What a statement inherits: list items the lead-in of their list, table cells the heads of their row and column.

A cell reads "row head - column head: cell"; an item of a list inside a list inherits the item above it too.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

from rag_app.cite import ParsedText
from rag_app.cite.segments import Block, blocks, cells
from rag_app.types import Span

_MARKER = re.compile(r"\s*\[[\d,\s-]+\]")
_BULLET = re.compile(r"\s*(?:[-*+•‣◦–・●]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s*")
_COLON = (":", "：")
_ENDS = re.compile(r"[.!?。！？]\W*$")


@dataclass(frozen=True, slots=True)
class LeadIn:
    """A line that list items go on from: its words without markers, what these cite, and whether it waits for the
    items ("The plan covers:") or is a sentence of its own.
    """

    words: str
    citations: tuple[int, ...]
    is_open: bool


@dataclass(frozen=True, slots=True)
class _Table:
    has_head: bool
    rows: list[list[Span]]
    places: list[tuple[int, int, int]]


class Structure:
    """The blocks of an answer, to look up what stands above a place."""

    def __init__(self, parsed: ParsedText) -> None:
        self.text = parsed.text
        self.blocks = blocks(parsed.text)
        self._markers = parsed.markers
        self._starts = [block.span.start for block in self.blocks]
        self._leads = self._read_leads()
        self._tables: dict[int, _Table] = {}

    def block_at(self, place: int) -> int:
        """The number of the block that holds a character, -1 before the first."""
        return bisect.bisect_right(self._starts, place) - 1

    def heads(self, place: int) -> list[str]:
        """The heads of the row and of the column of the table cell at `place`, those that it has."""
        number = self.block_at(place)
        if number < 0 or self.blocks[number].kind != "table":
            return []
        if number not in self._tables:
            self._tables[number] = self._read_table(self.blocks[number])
        table = self._tables[number]
        found = bisect.bisect_right(table.places, place, key=lambda cell: cell[0]) - 1
        _, row, column = table.places[max(0, found)]
        heads = [table.rows[row][0]] if column else []
        if row and table.has_head and column < len(table.rows[0]):
            heads.append(table.rows[0][column])
        plain = (_MARKER.sub("", head.slice(self.text)).replace("\\|", "|").strip() for head in heads)
        return [head for head in plain if head]

    def lead_ins(self, place: int) -> tuple[LeadIn, ...]:
        """What the list item at `place` goes on from, outermost first: the lead-in of its list, the items above it."""
        return self._leads.get(self.block_at(place), ())

    def _read_leads(self) -> dict[int, tuple[LeadIn, ...]]:
        leads: dict[int, tuple[LeadIn, ...]] = {}
        first: tuple[LeadIn, ...] = ()
        above: list[tuple[int, LeadIn]] = []
        for number, block in enumerate(self.blocks):
            line = self._last_line(block)
            if block.kind != "list":
                opens = block.kind not in ("table", "code") and _bare(block.span.slice(self.text)).endswith(_COLON)
                first, above = ((line,) if opens else ()), []
                continue
            indent = block.span.start - self.text.rfind("\n", 0, block.span.start) - 1
            while above and above[-1][0] >= indent:
                above.pop()
            leads[number] = (*first, *(lead for _, lead in above))
            above.append((indent, line))
        return leads

    def _last_line(self, block: Block) -> LeadIn:
        body = block.span.slice(self.text)
        start = body.rfind("\n") + 1
        line = body[start:]
        words = _bare(_BULLET.sub("", line, count=1) if block.kind == "list" and not start else line)
        is_open = words.endswith(_COLON) or not _ENDS.search(words)
        return LeadIn(
            words.lstrip("#> ").rstrip(":： "), self._cited(block.span.start + start, block.span.end), is_open
        )

    def _cited(self, start: int, end: int) -> tuple[int, ...]:
        first, last = (bisect.bisect_left(self._markers, place, key=lambda m: m.span.start) for place in (start, end))
        return tuple(dict.fromkeys(n for marker in self._markers[first:last] for n in marker.numbers))

    def _read_table(self, block: Block) -> _Table:
        rows = cells(self.text, block.span)
        places = [(cell.start, r, c) for r, row in enumerate(rows) for c, cell in enumerate(row)]
        _, _, below = block.span.slice(self.text).partition("\n")
        second = below.partition("\n")[0]
        return _Table("-" in second and not re.search(r"[^|:\s-]", second), rows, places)


def _bare(text: str) -> str:
    """The text without markers and without marks of emphasis."""
    return _MARKER.sub("", text).replace("**", "").replace("__", "").strip("*_ ")
