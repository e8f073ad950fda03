"""The two rankings over one committed state of the index: BM25 (`keyword.py`), and vectors here.

A scan in single precision, one matrix product a segment, says which rows may be among the best; their scores are worked
out in double precision row by row, so results are those of a fresh build however the rows fell into segments. Numpy's
products are faster than FAISS's scan for one query and several times as fast for many, so FAISS only serves `hnsw` and
`int8`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_app.index.base import FilterLike
from rag_app.index.local.container import Array, Strings
from rag_app.index.local.keyword import KeywordRanking, ranked
from rag_app.index.local.ranking import best_of, candidates, cosines, products_at, products_of, top
from rag_app.index.local.state import LiveSegment

if TYPE_CHECKING:
    from rag_app.types import Hit

# Products of unit rows in single precision differ from double ones by less.
_SLACK = 1e-5
# Where a filter passes less than this share, its rows are gathered; below the other, proposals would be too few.
_GATHER_BELOW = 0.25
_EXACT_BELOW = 0.3
_BLOCK_BYTES = 1 << 26


class Snapshot(KeywordRanking):
    """What a reader sees, ranked."""

    def dense(
        self, queries: Array, *, k: int, filters: Sequence[FilterLike], exact: bool = False
    ) -> list[tuple[Hit, ...]]:
        """For each row of `queries` (unit length) the chunks by cosine; a zero row finds nothing."""
        if k < 1 or not len(queries):
            return [() for _ in queries]
        masks = [self.masks(filter) for filter in filters]
        found: list[list[tuple[Strings, list[tuple[int, float]]]]] = [[] for _ in queries]
        for i, part in enumerate(self.segments):
            own = [self._with_vectors(part, mask[i]) for mask in masks]
            for q, rows in enumerate(self._nearest(part, queries, own, k, exact)):
                best = top(rows, cosines(part.segment.vectors[rows], queries[q]), k)
                found[q].append((part.segment.ids, best))
        return [ranked(best_of(parts, k)) for parts in found]

    def _nearest(
        self, part: LiveSegment, queries: Array, masks: Sequence[Array | None], k: int, exact: bool
    ) -> list[Array]:
        """For each query the rows that pass its mask and may be among the k best."""
        vectors, n = part.segment.vectors, part.segment.rows
        result: list[Array] = [np.empty(0, dtype=np.int64)] * len(queries)
        scanned: list[int] = []
        for q, mask in enumerate(masks):
            if not queries[q].any():
                continue
            passing = n if mask is None else int(np.count_nonzero(mask))
            proposed = None if exact else self._proposed(part, queries[q], mask, k, passing)
            if proposed is not None:
                result[q] = proposed
            elif mask is not None and passing < _GATHER_BELOW * n:
                rows = np.flatnonzero(mask)
                result[q] = rows[candidates(products_at(vectors, rows, queries[q]), k, slack=_SLACK)]
            else:
                scanned.append(q)
        block = max(1, _BLOCK_BYTES // max(4 * n, 1))
        for start in range(0, len(scanned), block):
            chosen = scanned[start : start + block]
            batch = queries[chosen]
            for q, scores in zip(chosen, products_of(vectors, batch), strict=True):
                mask = masks[q]
                if mask is not None:
                    scores = np.where(mask, scores, np.float32(-np.inf))
                result[q] = candidates(scores, k, slack=_SLACK)
        return result

    def _proposed(self, part: LiveSegment, query: Array, mask: Array | None, k: int, passing: int) -> Array | None:
        """Rows from the approximate structure; None where there is none, or it might give too few."""
        neighbors, n = part.segment.neighbors, part.segment.rows
        if neighbors is None or neighbors.kind != self.settings.dense or 4 * k >= passing or passing < _EXACT_BELOW * n:
            return None
        rows = neighbors.propose(query, k, mask)
        return rows if rows is not None and len(rows) >= k else None

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
