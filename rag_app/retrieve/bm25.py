"""Retrieval by words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from rag_app.retrieve.base import FilterLike, TracedRetriever
from rag_app.trace import Ranked, RetrievalTrace

if TYPE_CHECKING:
    from rag_app.retrieve.dense import DenseRanking


class BM25Retriever(TracedRetriever):
    """Chunks by BM25 score; a chunk that shares no word with the query never comes back."""

    kind: Literal["bm25"] = "bm25"

    def search(self, query: str, *, k: int, filter: FilterLike | None, dense: DenseRanking | None = None) -> Ranked:
        started = time.perf_counter()
        hits = self.corpus.bm25(query, k=k, filter=filter)
        return self.ranked(RetrievalTrace(query).add("bm25", hits, seconds=time.perf_counter() - started), hits)
