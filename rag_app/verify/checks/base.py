"""What every check is given: the claim's words beside the words of the window, each with its place."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from rag_app.types import Check, Span
from rag_app.verify.quantities import Quantity, quantities_of
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import Support
from rag_app.verify.words import Word, words_of

ABOUT = 0.5
"""From this coverage on a window is about the claim; below, what differs is another matter and no conflict."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A claim and the window it is checked against: `window` are the words of the window, `best` those of the one
    sentence most like the claim; spans of both refer to the source's text.
    """

    claim: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    source: IndexedSource
    support: Support
    window: tuple[Word, ...]
    best: tuple[Word, ...]
    window_span: Span
    best_span: Span

    def check(self, name: str, outcome: str, ours: Span | None, theirs: Span | None) -> Check:
        """A record of a check, with the text of both spans as the values."""
        return Check(
            name=name,
            outcome=outcome,
            claim_value=ours.slice(self.claim) if ours else None,
            source_value=theirs.slice(self.source.text) if theirs else None,
            claim_span=ours,
            evidence_span=theirs,
        )


def align_claim(claim: str, source: IndexedSource, support: Support) -> Aligned:
    """The claim beside the window of `support`."""
    return Aligned(
        claim=claim,
        words=tuple(words_of(claim)),
        quantities=tuple(quantities_of(claim)),
        source=source,
        support=support,
        window=tuple(source.window_words(support.first, support.last)),
        best=tuple(source.words_in(support.best)),
        window_span=source.window_span(support.first, support.last),
        best_span=source.units[support.best],
    )


def touches_any(spans: Sequence[Span], span: Span) -> bool:
    """Does the span touch one of these, which are in order?"""
    place = bisect.bisect_left(spans, span.end, key=lambda other: other.start)
    return place > 0 and spans[place - 1].overlaps(span)
