"""Retrieval by vectors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from rag_app.retrieve.base import FilterLike, TracedRetriever
from rag_app.trace import Ranked, RetrievalTrace
from rag_app.types import Hit

if TYPE_CHECKING:
    from rag_app.index.base import Index


def rank_by_vectors(
    index: Index, queries: Sequence[str], *, k: int, filters: Sequence[FilterLike | None]
) -> list[tuple[Hit, ...]]:
    """The dense ranking of each query: all queries embedded together, compared in one matrix product."""
    if not queries:
        return []
    vectors = index.embedder.encode(list(queries), query=True)
    found = index.dense_by_vectors(vectors, k=k, filters=list(filters) if any(filters) else None)
    return list(found)


class DenseRetriever(TracedRetriever):
    """Chunks by cosine with the query's vector: scores in [-1, 1]."""

    kind: Literal["dense"] = "dense"

    def dense_rankings(
        self, queries: Sequence[str], *, k: int, filters: Sequence[FilterLike | None]
    ) -> list[tuple[Hit, ...]] | None:
        return rank_by_vectors(self.corpus, queries, k=k, filters=filters)

    def search(self, query: str, *, k: int, filter: FilterLike | None, dense: Sequence[Hit] | None = None) -> Ranked:
        started = time.perf_counter()
        hits = tuple(dense[:k]) if dense is not None else self.corpus.dense(query, k=k, filter=filter)
        return self.ranked(RetrievalTrace(query).add("dense", hits, seconds=time.perf_counter() - started), hits)
