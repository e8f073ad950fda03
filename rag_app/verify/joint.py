"""Evidence from two sources together, where neither supports the claim alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from rag_app.types import Evidence
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import Support, entity_stems, support_of

GAIN = 0.1
"""The window of the other source must add this much coverage."""
SOURCES = 4


def joint_support(
    claim: str, found: Sequence[tuple[IndexedSource, Support]]
) -> tuple[float, tuple[Evidence, ...]] | None:
    """(score, evidence) of the best pair of windows from two sources; None when no pair says more than one alone.

    Windows are joined only when they share a name, so that what is true of one thing is not given to another. The order
    of the sources does not matter.
    """
    ranked = sorted(found, key=lambda pair: (-pair[1].coverage, pair[0].text))[:SOURCES]
    best: tuple[float, tuple[Evidence, ...]] | None = None
    for (a, one), (b, two) in combinations(ranked, 2):
        windows = [(a, a.window_span(one.first, one.last)), (b, b.window_span(two.first, two.last))]
        texts = [span.slice(source.text) for source, span in windows]
        if not _names(a, one) & _names(b, two):
            continue
        joined = support_of(claim, IndexedSource("\n".join(texts)))
        if joined.coverage < one.coverage + GAIN or joined.score <= max(one.score, two.score):
            continue
        if best is None or joined.score > best[0]:
            best = joined.score, tuple(source.evidence(span) for source, span in windows)
    return best


def _names(source: IndexedSource, support: Support) -> set[str]:
    names: set[str] = set()
    for unit in range(support.first, support.last + 1):
        names.update(entity_stems(source.text, source.words_in(unit)))
    return names
