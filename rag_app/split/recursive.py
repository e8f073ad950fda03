"""Chunks of about one size, cut at the best place that fits: paragraph, line, sentence, clause, word."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from rag_app.split.base import SpanSplitter, trim
from rag_app.split.breaks import LEVELS, Breaks
from rag_app.types import Span

# A paragraph or line break is worth leaving a chunk this empty; a sentence break always is, before clauses and words.
_FILL = {"paragraph": 0.7, "line": 0.8, "sentence": 0.0, "clause": 0.6, "word": 0.0, "grapheme": 0.0}


class RecursiveSplitter(SpanSplitter):
    """Fills chunks up to `chunk_size` and cuts at the strongest break near the end.

    The sentence mark stays with its sentence; a word or a grapheme is cut only where nothing else fits. With
    `chunk_overlap` a chunk begins with the last whole sentences of the one before (with words, where no sentence fits).
    """

    kind: Literal["recursive"] = "recursive"
    chunk_size: int = Field(1000, gt=0, description="The most a chunk holds, in units of `length`.")
    chunk_overlap: int = Field(0, ge=0, description="The most that two neighbors share, in units of `length`.")

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> RecursiveSplitter:
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError(f"chunk_overlap {self.chunk_overlap} must be smaller than chunk_size {self.chunk_size}")
        return self

    @property
    def target_size(self) -> int | None:
        return self.chunk_size

    def spans(self, text: str) -> list[Span]:
        return self.spans_within(text, Span(0, len(text)), Breaks(text))

    def spans_within(self, text: str, within: Span, breaks: Breaks) -> list[Span]:
        """The chunks of one stretch of the text; `breaks` are those of the whole text."""
        stretch = trim(text, *within)
        if stretch is None:
            return []
        start, covered, stop = stretch.start, stretch.start, stretch.end
        found: list[Span] = []
        while covered < stop:
            cut = self._cut(text, start, covered, stop, breaks)
            if cut is None:
                # The overlap leaves no room for anything new: begin where the last chunk ended.
                start = covered
                continue
            span = trim(text, start, cut)
            if span is not None:
                found.append(span)
            covered = cut
            start = self._next_start(text, start, cut, breaks) if cut < stop else cut
        return found

    def _cut(self, text: str, start: int, covered: int, stop: int, breaks: Breaks) -> int | None:
        """Where the chunk that begins at `start` ends: after `covered`, at most at `stop`; None when nothing fits."""
        reach = self._reach(text, start, stop)
        if reach >= stop:
            return stop
        # The space after a full chunk belongs to no chunk: a break may lie behind it.
        limit = reach
        while limit < stop and text[limit].isspace():
            limit += 1
        for level in LEVELS:
            floor = max(covered, start + int(_FILL[level] * (reach - start)))
            for cut in reversed(breaks.between(level, floor, limit)):
                if self._fits(text, start, cut):
                    return cut
        if covered > start:
            return None
        return max(reach, start + 1)

    def _reach(self, text: str, start: int, stop: int) -> int:
        """The furthest end (about it, where measuring is dear) of a chunk that begins at `start`."""
        if self.measures_characters:
            return min(stop, start + self.chunk_size)
        low, high = start, stop
        guess = min(stop, start + 4 * self.chunk_size)
        for _ in range(12):
            size = self.measure(text[start:guess])
            if size <= self.chunk_size:
                low = guess
                if guess == stop or size >= 0.97 * self.chunk_size:
                    break
            else:
                high = guess
            step = int((guess - start) * self.chunk_size / max(size, 1))
            guess = start + step if low < start + step < high else (low + high + 1) // 2
            if high - low <= 1:
                break
        return low

    def _fits(self, text: str, start: int, end: int) -> bool:
        if self.measures_characters:
            return len(text[start:end].rstrip()) <= self.chunk_size
        return self.measure(text[start:end].rstrip()) <= self.chunk_size

    def _next_start(self, text: str, start: int, cut: int, breaks: Breaks) -> int:
        """Where the next chunk begins: as many whole sentences (or words) before `cut` as the overlap holds."""
        if not self.chunk_overlap:
            return cut
        floor = max(start, cut - 8 * self.chunk_overlap)
        # Words are shared only where a sentence was cut anyway: no chunk begins inside a sentence without need.
        levels = ("sentence",) if breaks.between("sentence", cut - 1, cut) else ("sentence", "clause", "word")
        for level in levels:
            best = cut
            for place in reversed(breaks.between(level, floor, cut - 1)):
                if self.measure(text[place:cut].rstrip()) > self.chunk_overlap:
                    break
                best = place
            if best < cut:
                return best
        return cut
