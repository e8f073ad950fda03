"""Where a text may be cut, from the best place to the worst: paragraph, line, sentence, clause, word, grapheme.

A break is the offset at which the next piece begins; the space before it belongs to neither.
"""

from __future__ import annotations

import bisect
import re
from functools import cached_property

from rag_app.text.sentences import sentence_spans

LEVELS = ("paragraph", "line", "sentence", "clause", "word", "grapheme")

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n\s*")
_CLAUSE = re.compile(r"(?:[,;:][\"'’”)\]]*|\s[-–—]|—)\s+|[，；：、]")
_WORD = re.compile(r"\s+")


class Breaks:
    """The breaks of one text, level by level, found when they are first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def paragraphs(self) -> list[int]:
        return [match.end() for match in _PARAGRAPH.finditer(self.text)]

    @cached_property
    def lines(self) -> list[int]:
        # A line end inside a sentence was made by wrapping: it is no better than the space between two words.
        sentences = set(self.sentences)
        return [match.end() for match in _LINE.finditer(self.text) if match.end() in sentences]

    @cached_property
    def sentences(self) -> list[int]:
        return [span.start for span in sentence_spans(self.text)]

    def between(self, level: str, start: int, end: int) -> list[int]:
        """The breaks of `level` with start < break <= end, in order."""
        if level in ("paragraph", "line", "sentence"):
            found: list[int] = getattr(self, level + "s")
            return found[bisect.bisect_right(found, start) : bisect.bisect_right(found, end)]
        if level == "grapheme":
            return self._graphemes(start, end)
        pattern = _CLAUSE if level == "clause" else _WORD
        # A break at `end` needs the space before it, which may begin earlier: the search sees whole matches only.
        return [m.end() for m in pattern.finditer(self.text, start, end) if start < m.end() <= end]

    def _graphemes(self, start: int, end: int) -> list[int]:
        import regex

        # Some characters more than `end`, so that the last cluster is seen whole.
        stop = min(len(self.text), end + 64)
        return [m.end() for m in regex.finditer(r"\X", self.text, pos=start, endpos=stop) if start < m.end() <= end]
