"""The two rankings over one committed state of the index.

Statistics are summed over live rows, and final scores are computed in double precision row by row, so results are those
of a fresh build however the rows fell into segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rag_app.index.base import FilterLike
from rag_app.index.local.container import Array, encode
from rag_app.index.local.ranking import (
    best_of,
    candidates,
    cosines,
    counts_at,
    idf,
    okapi_floor,
    term_weights,
    top,
)
from rag_app.index.local.state import LiveSegment, State
from rag_app.index.settings import IndexSettings
from rag_app.types import Hit

# Single precision sums differ from double ones by less than this share of the largest score.
_SLACK = 1e-5
_GATHER_BELOW = 0.15
_TERMS_KEPT = 4096


class Snapshot(State):
    """What a reader sees, ranked."""

    def __init__(self, segments: Sequence[LiveSegment], settings: IndexSettings, dimension: int) -> None:
        super().__init__(segments, settings, dimension)
        self._floor: float | None = None
        # Where a term's postings are, and how many live rows they hold; views of mapped files, so this is small.
        self._terms: dict[str, tuple[int, list[tuple[Array, Array] | None]]] = {}

    # ---------------------------------------------------------------------------------------------------------- bm25

    def query_terms(self, query: str) -> dict[str, int]:
        """The terms of the query, with how often it has them."""
        return self.settings.analyzer.query_terms(query, languages=self.languages)

    def _weighted(self, query: str) -> list[tuple[str, float, list[tuple[Array, Array] | None]]]:
        """(term, its weight in the query, its postings in each segment) for each term that a live chunk has."""
        found = []
        for term, times in self.query_terms(query).items():
            known = self._terms.get(term)
            if known is None:
                postings = [part.segment.postings(encode(term)) for part in self.segments]
                df = sum(part.df(posting) for part, posting in zip(self.segments, postings, strict=True))
                if len(self._terms) >= _TERMS_KEPT:
                    self._terms.clear()
                known = self._terms[term] = (df, postings)
            if known[0]:
                found.append((term, times * self._idf(known[0]), known[1]))
        return found

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
        masks = self.masks(filter)
        weighted = self._weighted(query)
        if not weighted or k < 1:
            return ()
        parts = []
        for i, part in enumerate(self.segments):
            postings = [(weight, posting[i]) for _, weight, posting in weighted]
            rows = self._bm25_rows(part, postings, masks[i], k)
            best = top(rows, self._exact(part, postings, rows), k)
            parts.append([(part.segment.ids[row], score) for row, score in best])
        return _hits(best_of(parts, k))

    def _bm25_rows(
        self,
        part: LiveSegment,
        postings: Sequence[tuple[float, tuple[Array, Array] | None]],
        mask: Array | None,
        k: int,
    ) -> Array:
        """Rows that have a term, pass, and may be among the k best."""
        lists = [(weight, posting) for weight, posting in postings if posting is not None]
        if not lists:
            return np.empty(0, dtype=np.int64)
        if self.settings.bm25.variant != "lucene":
            rows = np.unique(np.concatenate([posting[0] for _, posting in lists])).astype(np.int64)
            return rows if mask is None else rows[mask[rows]]
        scores = np.zeros(part.segment.rows, dtype=np.float32)
        scale = np.float32(self.settings.bm25.k1 + 1)
        for weight, (rows, counts) in lists:
            tf = counts.astype(np.float32)
            scores[rows] += (np.float32(weight) * scale) * tf / (tf + part.norm[rows])
        if mask is not None:
            scores *= mask
        # Rows without a term have 0; a lucene weight is never 0 or less.
        np.putmask(scores, scores <= 0, -np.inf)
        return candidates(scores, k, slack=_SLACK * float(scores.max(initial=0.0)))

    def _exact(
        self, part: LiveSegment, postings: Sequence[tuple[float, tuple[Array, Array] | None]], rows: Array
    ) -> Any:
        scores = np.zeros(len(rows), dtype=np.float64)
        for contribution in self._contributions(part, postings, rows):  # one by one: always in the same order
            scores += contribution
        return scores

    def _contributions(
        self, part: LiveSegment, postings: Sequence[tuple[float, tuple[Array, Array] | None]], rows: Array
    ) -> Any:
        """(terms, rows): what each term adds to the score of each row."""
        lists = [(weight, posting) for weight, posting in postings if posting is not None]
        if not lists or not len(rows):
            return np.zeros((len(lists), len(rows)), dtype=np.float64)
        counts = np.stack([counts_at(posting, rows) for _, posting in lists])
        lengths = np.maximum(part.segment.lengths[rows], 1)
        parts = term_weights(self.settings.bm25, counts=counts, lengths=lengths, average=self.average)
        weights = np.asarray([weight for weight, _ in lists], dtype=np.float64)
        return np.where(counts > 0, weights[:, None] * parts, 0.0)

    def bm25_terms(self, query: str, chunk_id: str) -> dict[str, float]:
        """Each matched term's part of the score."""
        place = self.find(chunk_id)
        if place is None:
            return {}
        i, row = place
        rows = np.asarray([row])
        result: dict[str, float] = {}
        for term, weight, postings in self._weighted(query):
            posting = postings[i]
            if posting is not None and counts_at(posting, rows)[0]:
                result[term] = float(self._contributions(self.segments[i], [(weight, posting)], rows)[0, 0])
        return result

    def bm25_score(self, query: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The score of each chunk that is there; 0 where no term matches."""
        weighted = self._weighted(query)
        result: dict[str, float] = {}
        for i, rows, ids in self._by_segment(chunk_ids):
            scores = self._exact(self.segments[i], [(weight, posting[i]) for _, weight, posting in weighted], rows)
            result.update(zip(ids, scores.tolist(), strict=True))
        return {chunk_id: result[chunk_id] for chunk_id in chunk_ids if chunk_id in result}

    # --------------------------------------------------------------------------------------------------------- dense

    def dense(self, queries: Array, *, k: int, filters: Sequence[FilterLike]) -> list[tuple[Hit, ...]]:
        """For each row of `queries` (unit length) the chunks by cosine; a zero row finds nothing."""
        if k < 1 or not len(queries):
            return [() for _ in queries]
        masks = [self.masks(filter) for filter in filters]
        found: list[list[list[tuple[str, float]]]] = [[] for _ in queries]
        for i, part in enumerate(self.segments):
            for q, best in enumerate(self._dense_part(part, queries, [mask[i] for mask in masks], k)):
                found[q].append([(part.segment.ids[row], score) for row, score in best])
        return [_hits(best_of(parts, k)) for parts in found]

    def _dense_part(
        self, part: LiveSegment, queries: Array, masks: Sequence[Array | None], k: int
    ) -> Iterator[list[tuple[int, float]]]:
        vectors, n = part.segment.vectors, part.segment.rows
        block = max(1, (1 << 24) // max(n, 1))
        for start in range(0, len(queries), block):
            batch = queries[start : start + block]
            few = [m is not None and int(np.count_nonzero(m)) < _GATHER_BELOW * n for m in masks[start : start + block]]
            products = None if all(few) else batch @ vectors.T if len(batch) > 1 else (vectors @ batch[0])[None]
            for q, query in enumerate(batch):
                mask = self._with_vectors(part, masks[start + q])
                if not query.any():
                    yield []
                    continue
                if few[q] and mask is not None:
                    rows = np.flatnonzero(mask)
                    rows = rows[candidates(vectors[rows] @ query, k, slack=_SLACK)]
                else:
                    assert products is not None
                    scores = products[q] if mask is None else np.where(mask, products[q], np.float32(-np.inf))
                    rows = candidates(scores, k, slack=_SLACK)
                yield top(rows, cosines(vectors[rows], query), k)

    @staticmethod
    def _with_vectors(part: LiveSegment, mask: Array | None) -> Array | None:
        if not len(part.segment.no_vector):
            return mask
        result = np.ones(part.segment.rows, dtype=bool) if mask is None else mask.copy()
        result[part.segment.no_vector] = False
        return result

    def dense_score(self, query: Array, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The cosine of each chunk that is there."""
        result: dict[str, float] = {}
        for i, rows, ids in self._by_segment(chunk_ids):
            scores = cosines(self.segments[i].segment.vectors[rows], query)
            result.update(zip(ids, scores.tolist(), strict=True))
        return {chunk_id: result[chunk_id] for chunk_id in chunk_ids if chunk_id in result}


def _hits(pairs: Sequence[tuple[str, float]]) -> tuple[Hit, ...]:
    return tuple(Hit(chunk_id, float(score), rank) for rank, (chunk_id, score) in enumerate(pairs, start=1))
