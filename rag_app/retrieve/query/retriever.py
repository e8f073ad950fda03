"""A retriever that asks a chat model what to search for, and fuses what the queries found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from pydantic import Field

from rag_app.retrieve.base import FilterLike, TracedRetriever
from rag_app.retrieve.bm25 import BM25Retriever
from rag_app.retrieve.dense import DenseRanking, DenseRetriever
from rag_app.retrieve.fusion import reciprocal_rank_fusion
from rag_app.retrieve.hybrid import HybridRetriever
from rag_app.retrieve.query.base import Asked
from rag_app.retrieve.query.decompose import DecomposeQuery
from rag_app.retrieve.query.hyde import HypotheticalDocument
from rag_app.retrieve.query.multi_query import MultiQuery
from rag_app.retrieve.query.rewrite import RewriteQuery
from rag_app.retrieve.query.self_query import SelfQuery
from rag_app.trace import Ranked, RetrievalTrace, annotate, rank, trace_of

Base = Annotated[BM25Retriever | DenseRetriever | HybridRetriever, Field(discriminator="kind")]
Transform = Annotated[
    RewriteQuery | MultiQuery | HypotheticalDocument | DecomposeQuery | SelfQuery, Field(discriminator="kind")
]


class QueryRetriever(TracedRetriever):
    """Searches `base` for what `ask` makes of the question; several queries are fused by reciprocal ranks.

    The trace has what was asked, and each query's ranking as "query 1", "query 2", ... Give `history` with the call:
    `retriever.invoke(question, history=[...])`.
    """

    kind: Literal["query"] = "query"
    base: Base = Field(default_factory=HybridRetriever, description="The retriever that is asked.")
    ask: Transform = Field(default_factory=MultiQuery, description="What becomes of the question.")
    rrf_k: int = Field(default=60, ge=0, description="The k of reciprocal rank fusion over the queries.")
    chat_model: Any = Field(default=None, exclude=True, repr=False)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        k: int | None = None,
        top_k: int | None = None,
        filter: FilterLike | None = None,
        dense: DenseRanking | None = None,
        history: Sequence[Any] = (),
    ) -> list[Document]:
        if not query.strip():
            return Ranked(trace=RetrievalTrace(query, warnings=("the query is blank",)))
        config: Any = {"callbacks": run_manager.get_child()} if run_manager is not None else None
        started = time.perf_counter()
        asked = self._bound().invoke({"question": query, "history": history}, config)
        spent = time.perf_counter() - started
        count = self.count(k, top_k)
        condition = self._both(self.filter_for(filter), asked.filter)
        depth = count if len(asked.queries) == 1 else max(count, 2 * count)
        found = self._base().batch(list(asked.queries), config, k=depth, filter=condition)
        return self._fused(query, asked, found, count, spent)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        top_k: int | None = None,
        filter: FilterLike | None = None,
        dense: DenseRanking | None = None,
        history: Sequence[Any] = (),
    ) -> list[Document]:
        if not query.strip():
            return Ranked(trace=RetrievalTrace(query, warnings=("the query is blank",)))
        config: Any = {"callbacks": run_manager.get_child()}
        started = time.perf_counter()
        asked = await self._bound().ainvoke({"question": query, "history": history}, config)
        spent = time.perf_counter() - started
        count = self.count(k, top_k)
        condition = self._both(self.filter_for(filter), asked.filter)
        depth = count if len(asked.queries) == 1 else max(count, 2 * count)
        found = await self._base().abatch(list(asked.queries), config, k=depth, filter=condition)
        return self._fused(query, asked, found, count, spent)

    def _bound(self) -> Any:
        update: dict[str, Any] = {} if self.chat_model is None else {"chat_model": self.chat_model}
        if isinstance(self.ask, SelfQuery) and self.ask.fields is None:
            update["fields"] = self.corpus.fields()
        return self.ask.model_copy(update=update)

    def _base(self) -> TracedRetriever:
        return self.base if self.index is None else self.base.model_copy(update={"index": self.index})

    @staticmethod
    def _both(given: FilterLike | None, found: FilterLike | None) -> dict[str, Any] | None:
        conditions = [dict(each) for each in (given, found) if each]
        return {"$and": conditions} if len(conditions) == 2 else (conditions[0] if conditions else None)

    def _fused(self, question: str, asked: Asked, found: Sequence[Sequence[Document]], k: int, spent: float) -> Ranked:
        stage = self.ask.stage
        facts = {"filter": asked.filter} if asked.filter else {}
        trace = trace_of(found[0], question).merge(RetrievalTrace(question))
        trace = trace.add(stage, None, queries=asked.queries, warnings=asked.warnings, seconds=spent)
        if len(found) == 1:
            return Ranked(found[0], trace.add(stage, None, parameters=facts) if facts else trace)
        documents: dict[str, Document] = {}
        lists: list[list[str]] = []
        for place, each in enumerate(found, start=1):
            lists.append([str(document.id) for document in each])
            for document in each:
                documents.setdefault(str(document.id), document)
            own = trace_of(each).rankings
            hits = rank({str(d.id): 1 / r for r, d in enumerate(each, start=1)}) if own else ()
            trace = trace.add(f"query {place}", hits)
        scores = rank(reciprocal_rank_fusion(lists, k=self.rrf_k))
        weights = {f"query {place}": 1.0 for place in range(1, len(found) + 1)}
        parameters = {"weights": weights, "k": self.rrf_k, "missing_rank": None, "top_k": k, **facts}
        trace = trace.add(stage, scores, parameters=parameters)
        return Ranked(annotate([documents[hit.chunk_id] for hit in scores[:k]], trace), trace)
