"""BM25 over the live rows of all segments.

Rows are numbered through all segments. What a term adds to the score of each of its rows, its idf aside, is worked out
in double precision when the term is first asked for, and kept: a query is then one addition for each of its terms, and
scores are those of a fresh build however the rows fell into segments.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rag_app.index.base import FilterLike
from rag_app.index.local.container import Array, encode
from rag_app.index.local.identity import BuiltWith
from rag_app.index.local.kept import Kept
from rag_app.index.local.ranking import (
    best_of,
    candidates,
    idf,
    impacts_at,
    length_norms,
    okapi_floor,
    term_weights,
    top,
)
from rag_app.index.local.state import LiveSegment, State

if TYPE_CHECKING:
    from rag_app.types import Hit

_TERM_BYTES = 64 << 20
_QUERY_BYTES = 1 << 18
_ENTRY = 300


class TermPostings(NamedTuple):
    """The live rows that have a term, ascending, and the term's part of each row's score without its idf."""

    rows: Array
    impacts: Array


class KeywordRanking(State):
    """A committed state, ranked by BM25."""

    def __init__(self, segments: Sequence[LiveSegment], built_with: BuiltWith, dimension: int) -> None:
        super().__init__(segments, built_with, dimension)
        self._floor: float | None = None
        self._postings: Kept[TermPostings] = Kept(_TERM_BYTES)
        self._queries: Kept[dict[str, int]] = Kept(_QUERY_BYTES)

    @functools.cached_property
    def _norms(self) -> list[Array]:
        bm25 = self.settings.bm25
        return [length_norms(bm25, lengths=part.segment.lengths, average=self.average) for part in self.segments]

    def query_terms(self, query: str) -> dict[str, int]:
        """The terms of the query, with how often it has them."""
        known = self._queries.get(query)
        if known is None:
            known = self.settings.analyzer.query_terms(query, languages=self.languages)
            self._queries.put(query, known, _ENTRY + 8 * len(query))
        return known

    def _weighted(self, query: str) -> list[tuple[str, float, TermPostings]]:
        """(term, its weight in the query, its postings) for each term that a live chunk has."""
        found = []
        for term, times in self.query_terms(query).items():
            postings = self._postings.get(term)
            if postings is None:
                postings = self._read(term)
                size = _ENTRY + postings.rows.nbytes + postings.impacts.nbytes
                self._postings.put(term, postings, size)
            if len(postings.rows):
                found.append((term, times * self._idf(len(postings.rows)), postings))
        return found

    def _read(self, term: str) -> TermPostings:
        key, rows, impacts = encode(term), [], []
        for part, offset, norms in zip(self.segments, self.offsets, self._norms, strict=True):
            posting = part.segment.postings(key)
            if posting is None:
                continue
            own, counts = posting[0].astype(np.intp), posting[1]
            if part.live is not None:
                live = part.live[own]
                own, counts = own[live], counts[live]
            impacts.append(term_weights(self.settings.bm25, counts=counts, norm=norms[own]))
            rows.append(own + offset)
        if len(rows) == 1:
            return TermPostings(rows[0], impacts[0])
        return TermPostings(np.concatenate(rows or [np.empty(0, np.intp)]), np.concatenate(impacts or [np.empty(0)]))

    def _idf(self, df: int) -> float:
        weight = idf(self.settings.bm25, n=self.count, df=df)
        if self.settings.bm25.variant == "okapi" and weight < 0:
            if self._floor is None:
                self._floor = okapi_floor(self.settings.bm25, n=self.count, dfs=self._all_dfs())
            return self._floor
        return weight

    def _all_dfs(self) -> Array:
        dfs: Counter[bytes] = Counter()
        for part in self.segments:
            segment = part.segment
            live = np.ones(segment.rows, dtype=np.int64) if part.live is None else part.live.astype(np.int64)
            sums = np.concatenate([[0], np.cumsum(live[segment.posting_rows])])
            counts = sums[segment.indptr[1:]] - sums[segment.indptr[:-1]]
            for i, count in enumerate(counts.tolist()):
                dfs[segment.terms.raw(i)] += count
        return np.asarray([count for count in dfs.values() if count], dtype=np.float64)

    def bm25(self, query: str, *, k: int, filter: FilterLike = None) -> tuple[Hit, ...]:
        """Chunks that share a term with the query and pass the filter, best first."""
        mask = self.mask(filter)
        weighted = self._weighted(query)
        if not weighted or k < 1:
            return ()
        scores = np.zeros(self.rows)
        for _, weight, postings in weighted:  # one by one: always in the same order
            np.add.at(scores, postings.rows, weight * postings.impacts)
        if self.settings.bm25.variant == "lucene":
            # A lucene weight is above 0, so the rows without a term are those at 0.
            rows = candidates(scores if mask is None else scores * mask, k, above=0.0)
        else:
            rows = np.unique(np.concatenate([postings.rows for _, _, postings in weighted]))
            rows = rows if mask is None else rows[mask[rows]]
        return self.hits(rows, scores[rows], k)

    def hits(self, rows: Array, scores: Array, k: int) -> tuple[Hit, ...]:
        """The k best of `rows` (ascending), best first; ties by id."""
        edges = rows.searchsorted(np.asarray([*self.offsets, self.rows])).tolist()
        best = []
        for part, offset, a, b in zip(self.segments, self.offsets, edges, edges[1:], strict=False):
            if a < b:
                best.append((part.segment.ids, top(rows[a:b] - offset, scores[a:b], k)))
        return ranked(best_of(best, k))

    def bm25_terms(self, query: str, chunk_id: str) -> dict[str, float]:
        """Each matched term's part of the score."""
        place = self.find(chunk_id)
        if place is None:
            return {}
        rows = np.asarray([place[1] + self.offsets[place[0]]])
        result: dict[str, float] = {}
        for term, weight, postings in self._weighted(query):
            found, impacts = impacts_at(postings.rows, postings.impacts, rows)
            if found[0]:
                result[term] = float(weight * impacts[0])
        return result

    def bm25_score(self, query: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The score of each chunk that is there; 0 where no term matches."""
        places = {chunk_id: place for chunk_id in chunk_ids if (place := self.find(chunk_id)) is not None}
        rows = np.asarray([row + self.offsets[i] for i, row in places.values()], dtype=np.intp)
        scores = np.zeros(len(rows))
        for _, weight, postings in self._weighted(query):
            scores += weight * impacts_at(postings.rows, postings.impacts, rows)[1]
        return dict(zip(places, scores.tolist(), strict=True))


def ranked(pairs: Sequence[tuple[str, float]]) -> tuple[Hit, ...]:
    """Pairs of id and score, best first, as hits."""
    from rag_app.types import Hit

    return tuple([Hit(chunk_id, score, rank) for rank, (chunk_id, score) in enumerate(pairs, start=1)])
