"""Lines to text: paragraphs, joined hyphens, and the rectangle of every segment with its exact place in the text."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rag_app.load.parsed import Box
from rag_app.load.pdf_order import Line
from rag_app.load.pdf_segments import Segment, without_hyphen

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST = re.compile(r"[^\W\d_]+-$")
_FIRST = re.compile(r"^[^\W\d_]+")


class PdfText:
    """A PDF's text as it grows page by page."""

    def __init__(self, vocabulary: frozenset[str] = frozenset()) -> None:
        self._vocabulary = vocabulary
        self._parts: list[str] = []
        self.length = 0
        self.boxes: list[Box] = []
        self.lines: list[tuple[int, int, int, Line]] = []  # start, end, page, line
        self.pages: list[tuple[int, int]] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def page(self, blocks: Sequence[Sequence[Line]]) -> None:
        """Add a page; pages are separated by one blank line."""
        number = len(self.pages) + 1
        if self.length and any(blocks):
            self._add("\n\n")
        start = self.length
        before: Line | None = None
        for block in blocks:
            left = statistics.median([line.x0 for line in block])
            pitch = _pitch(block)
            for place, line in enumerate(block):
                following = block[place + 1] if place + 1 < len(block) else None
                if before is None:
                    gap = ""
                elif place == 0:
                    gap = "\n" if _flows(before, line) else "\n\n"
                else:
                    gap = "\n\n" if _new_paragraph(before, line, following, left, pitch) else "\n"
                self._line(line, gap, number)
                before = line
        self.pages.append((start, self.length))

    def _line(self, line: Line, gap: str, page: int) -> None:
        if gap and self._hyphenated(line):
            gap = ""
        self._add(gap)
        start = self.length
        before: Segment | None = None
        for segment in line.segments:
            if before is not None:
                self._add(_between(before, segment))
            self.boxes.append((self.length, self.length + len(segment.text), page, *_rounded(segment.page_box)))
            self._add(segment.text)
            before = segment
        self.lines.append((start, self.length, page, line))

    def _hyphenated(self, line: Line) -> bool:
        """Whether the text so far ends in a divided word that `line` goes on with; if so the hyphen is dealt with."""
        if not self._parts or not self._parts[-1].endswith("-"):
            return False
        head, tail = _LAST.search(self._parts[-1]), _FIRST.match(line.segments[0].text)
        if head is None or tail is None:
            return False
        joined, kept = head.group()[:-1] + tail.group(), head.group() + tail.group()
        if not tail.group()[0].islower():
            return True  # a compound of names keeps its hyphen
        known = joined.casefold() in self._vocabulary, kept.casefold() in self._vocabulary
        if known != (False, True):
            last = self.boxes[-1]
            self._parts[-1] = self._parts[-1][:-1]
            self.length -= 1
            self.boxes[-1] = (last[0], last[1] - 1, *last[2:])
            start, end, page, previous = self.lines[-1]
            shorter = Line((*previous.segments[:-1], without_hyphen(previous.segments[-1])))
            self.lines[-1] = (start, end - 1, page, shorter)
        return True

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self.length += len(text)


def vocabulary(lines: Iterable[Line]) -> frozenset[str]:
    """The words that stand undivided somewhere in the document, with and without inner hyphens."""
    words: set[str] = set()
    for line in lines:
        for segment in line.segments:
            found = [match.casefold() for match in _WORD.findall(segment.text)]
            words.update(found[:-1] if segment.hyphen else found)
    return frozenset(words)


def _pitch(block: Sequence[Line]) -> float:
    """The usual distance from line to line in the block."""
    steps = [b.y1 - a.y1 for a, b in pairwise(block) if b.y1 > a.y1]
    return statistics.median_low(steps) if steps else 0.0


def _new_paragraph(before: Line, line: Line, following: Line | None, left: float, pitch: float) -> bool:
    if line.y1 - before.y1 > max(1.35 * pitch, 1.4 * line.size):
        return True
    if not 0.87 < line.size / max(before.size, 0.1) < 1.15 and min(len(line.text), len(before.text)) > 2:
        return True
    indent = line.x0 - left
    return (
        0.6 * line.size < indent < 4 * line.size
        and abs(before.x0 - left) < 0.3 * line.size
        and (following is None or abs(following.x0 - left) < 0.3 * line.size)
        and before.text.rstrip()[-1:] in '.:!?”"’)。'
    )


def _flows(before: Line, line: Line) -> bool:
    """Whether a paragraph goes on from the foot of one column to the head of the next."""
    same = 0.9 < line.size / max(before.size, 0.1) < 1.1
    return same and before.text.rstrip()[-1:] not in ".:!?”。" and line.text[:1].islower()


def _between(before: Segment, segment: Segment) -> str:
    gap = max(segment.x0 - before.x1, before.x0 - segment.x1)
    size = min(before.height, segment.height)
    return "" if gap < 0.12 * size else (" " if gap < 1.5 * max(before.height, segment.height) else "  ")


def _rounded(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    return round(box[0], 2), round(box[1], 2), round(box[2], 2), round(box[3], 2)
