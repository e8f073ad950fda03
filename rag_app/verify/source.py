"""A source, read once: its sentences, the words in each, where each stem stands. Claims are then looked up in it."""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_app.text import sentence_spans
from rag_app.types import Evidence, Span
from rag_app.verify.quantities import Quantity, quantities_of
from rag_app.verify.words import Word, is_function_word, stems_of, words_of

Floats = NDArray[np.float64]

_PREFIX = 5
_MAX_TAIL = 4
_SOFT = 0.7
_ENDS = re.compile(r"[.!?。！？:;]['\"”’)\]]*\s*$")
_TITLE = re.compile(r"\s*(?:#+\s|title:|\(meta data\)\s*title:)", re.IGNORECASE)


def units_of(text: str) -> list[Span]:
    """Sentences, cut at line ends too where the line is an item of its own (a heading, a list item, a table row)."""
    spans: list[Span] = []
    for sentence in sentence_spans(text):
        start = sentence.start
        for newline in re.finditer(r"\n", text[sentence.start : sentence.end]):
            at = sentence.start + newline.start()
            following = text[at + 1 : sentence.end].lstrip()
            # A hard-wrapped line goes on in lower case; a line that is complete does not.
            if following[:1].islower() and at - start > 40:
                continue
            if text[start:at].strip():
                spans.append(_trimmed(text, start, at))
            start = at + 1
        if text[start : sentence.end].strip():
            spans.append(_trimmed(text, start, sentence.end))
    return spans


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    return Span(start + lead, start + lead + len(piece.strip()))


class IndexedSource:
    """One source text with its sentences (`units`) and postings; `name` is how evidence calls it.

    `offset` is where the text starts in its document: evidence refers to the document's text.
    """

    def __init__(self, text: str, name: str = "source", *, offset: int = 0, chunk_id: str | None = None) -> None:
        self.text = text
        self.name = name
        self.offset = offset
        self.chunk_id = chunk_id
        self.units: list[Span] = units_of(text)
        self.stems: list[list[str]] = [stems_of(text[unit.start : unit.end]) for unit in self.units]
        self._words: dict[int, list[Word]] = {}
        self._quantities: dict[Span, list[Quantity]] = {}
        postings: defaultdict[str, list[int]] = defaultdict(list)
        for number, stems in enumerate(self.stems):
            for stem in dict.fromkeys(stems):
                postings[stem].append(number)
        self.postings: dict[str, list[int]] = dict(postings)

    def __len__(self) -> int:
        return len(self.units)

    @cached_property
    def _by_prefix(self) -> dict[str, list[str]]:
        table: defaultdict[str, list[str]] = defaultdict(list)
        for stem in self.postings:
            if len(stem) >= _PREFIX:
                table[stem[:_PREFIX]].append(stem)
        return dict(table)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where each stem stands, counted in words that carry matter, so that "fell by a third" is two words."""
        table: defaultdict[str, list[int]] = defaultdict(list)
        matter = (stem for stems in self.stems for stem in stems if not is_function_word(stem))
        for place, stem in enumerate(matter):
            table[stem].append(place)
        return dict(table)

    @cached_property
    def _first_places(self) -> list[int]:
        counts = (sum(not is_function_word(stem) for stem in stems) for stems in self.stems)
        return list(itertools.accumulate(counts, initial=0))

    def places_of(self, first: int, last: int) -> tuple[int, int]:
        """The half-open range of places that units `first` to `last` (inclusive) take."""
        return self._first_places[first], self._first_places[last + 1]

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers of the text, in order."""
        return tuple(quantities_of(self.text))

    def unit_at(self, offset: int) -> int:
        """The unit that holds the character, or the last one that begins before it."""
        return max(0, bisect.bisect_right(self.units, offset, key=lambda unit: unit.start) - 1)

    @cached_property
    def _written(self) -> list[str]:
        return ["".join(unit.slice(self.text).split()) for unit in self.units]

    def says(self, claim: str) -> bool:
        """Is the claim one or more sentences of this text, word for word, white space aside?"""
        told = "".join(claim.split())
        for first, unit in enumerate(self._written):
            length, last = len(unit), first + 1
            if not unit or not told.startswith(unit):
                continue
            while length < len(told) and last < len(self) and told.startswith(self._written[last], length):
                length, last = length + len(self._written[last]), last + 1
            if length == len(told):
                return True
        return False

    @cached_property
    def title(self) -> int | None:
        """The unit that is the title or heading of the whole text: first, and no sentence; None without one."""
        if not self.units or len(self.units) < 2:
            return None
        first = self.units[0].slice(self.text)
        return 0 if _TITLE.match(first) or (len(first) < 100 and not _ENDS.search(first)) else None

    def soft_matches(self, stem: str) -> dict[int, float]:
        """Units that hold the stem (1.0), or one that shares a beginning of five letters with it (0.7)."""
        exact = self.postings.get(stem)
        if exact is not None:
            return dict.fromkeys(exact, 1.0)
        found: dict[int, float] = {}
        if len(stem) >= _PREFIX and not stem[0].isdigit():
            for other in self._by_prefix.get(stem[:_PREFIX], ()):
                common = _common_prefix(stem, other)
                if len(stem) - common <= _MAX_TAIL and len(other) - common <= _MAX_TAIL and common >= len(stem) * 0.6:
                    found.update(dict.fromkeys(self.postings[other], _SOFT))
        return found

    def hits(self, stems: Iterable[str]) -> Floats:
        """(stems, units): 1 where the unit holds the stem, .7 where a near relative of it, else 0."""
        stems = list(stems)
        matrix = np.zeros((len(stems), len(self.units)))
        for row, stem in enumerate(stems):
            for unit, value in self.soft_matches(stem).items():
                matrix[row, unit] = value
        return matrix

    def evidence(self, span: Span) -> Evidence:
        """A span of this text as evidence, placed in the document's text."""
        return Evidence(
            self.name, span.start + self.offset, span.end + self.offset, span.slice(self.text), self.chunk_id
        )

    def window_words(self, first: int, last: int) -> list[Word]:
        """The words of units `first` to `last` (inclusive)."""
        return [word for unit in range(first, last + 1) for word in self.words_in(unit)]

    def words_in(self, unit: int) -> list[Word]:
        """The words of one unit, with their places in this text; read when first asked for."""
        found = self._words.get(unit)
        if found is None:
            start, end = self.units[unit]
            found = [Word(w.stem, w.span.shift(start), w.text) for w in words_of(self.text[start:end])]
            self._words[unit] = found
        return found

    def quantities_in(self, span: Span) -> list[Quantity]:
        """The numbers of a part of the text, with their places in this text; read when first asked for."""
        found = self._quantities.get(span)
        if found is None:
            found = [replace(q, span=q.span.shift(span.start)) for q in quantities_of(span.slice(self.text))]
            self._quantities[span] = found
        return found

    def window_span(self, first: int, last: int) -> Span:
        """The characters of units `first` to `last` (inclusive)."""
        return Span(self.units[first].start, self.units[last].end)


class SourceCache:
    """Sources that were read, so that many claims about one text read it once; the oldest makes room for the newest.

    It belongs to whoever made it (a verifier): nothing outlives its owner.
    """

    def __init__(self, size: int = 64) -> None:
        self.size = size
        self._sources: dict[tuple[str, str, int, str | None], IndexedSource] = {}

    def get(self, text: str, name: str = "source", offset: int = 0, chunk_id: str | None = None) -> IndexedSource:
        """The source, read now or before."""
        key = (text, name, offset, chunk_id)
        source = self._sources.get(key)
        if source is None:
            source = IndexedSource(text, name, offset=offset, chunk_id=chunk_id)
            while len(self._sources) >= self.size:
                self._sources.pop(next(iter(self._sources)), None)
            self._sources[key] = source
        return source

    def __len__(self) -> int:
        return len(self._sources)


def _common_prefix(a: str, b: str) -> int:
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return index
    return min(len(a), len(b))


def content_stems(words: Iterable[Word]) -> list[str]:
    """The distinct stems that carry matter, in order."""
    return list(dict.fromkeys(word.stem for word in words if not is_function_word(word.stem)))
