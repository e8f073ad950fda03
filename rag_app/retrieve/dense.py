"""Retrieval by vectors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from rag_app.retrieve.base import FilterLike, TracedRetriever
from rag_app.trace import Ranked, RetrievalTrace
from rag_app.types import Hit

if TYPE_CHECKING:
    from rag_app.index.base import Index


@dataclass(frozen=True, slots=True)
class DenseRanking:
    """A query's vector, (d,) of unit length, and the chunks nearest to it."""

    vector: npt.NDArray[np.float32]
    hits: tuple[Hit, ...]


def rank_by_vectors(
    index: Index, queries: Sequence[str], *, k: int, filters: Sequence[FilterLike | None]
) -> list[DenseRanking]:
    """The dense ranking of each query: all queries embedded together, compared in one matrix product."""
    if not queries:
        return []
    first = index.embed_query(queries[0])  # the index checks its embedder here
    rest = cast(Any, index).embedder.encode(list(queries[1:]), query=True) if len(queries) > 1 else first[None][:0]
    vectors = np.concatenate([first[None], rest])
    found = index.dense_by_vectors(vectors, k=k, filters=list(filters))
    return [DenseRanking(vector, tuple(hits)) for vector, hits in zip(vectors, found, strict=True)]


class DenseRetriever(TracedRetriever):
    """Chunks by cosine with the query's vector: scores in [-1, 1]."""

    kind: Literal["dense"] = "dense"

    def dense_rankings(
        self, queries: Sequence[str], *, k: int, filters: Sequence[FilterLike | None]
    ) -> list[DenseRanking] | None:
        return rank_by_vectors(self.corpus, queries, k=k, filters=filters)

    def search(self, query: str, *, k: int, filter: FilterLike | None, dense: DenseRanking | None = None) -> Ranked:
        started = time.perf_counter()
        found = dense or rank_by_vectors(self.corpus, [query], k=k, filters=[filter])[0]
        hits = found.hits[:k]
        return self.ranked(RetrievalTrace(query).add("dense", hits, seconds=time.perf_counter() - started), hits)
