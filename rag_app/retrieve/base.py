"""What our retrievers share: an index, how many to return, filters, batches, a trace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_config_list, run_in_executor
from pydantic import ConfigDict, Field

from rag_app.filters import filter_each, parse_filter
from rag_app.trace import Ranked, RetrievalTrace, annotate
from rag_app.types import ConfigError, Hit

if TYPE_CHECKING:
    from rag_app.index.base import Index
    from rag_app.retrieve.dense import DenseRanking

FilterLike = Mapping[str, Any]


class TracedRetriever(BaseRetriever):
    """A retriever that returns `Ranked` documents: `invoke(query, k=..., filter=...)`.

    `k` (or `top_k`) overrides the field `top_k` for one call. `filter` restricts the candidates before the best are
    taken. `batch` takes one filter for all queries or a list with one (or None) per query, and embeds all queries at
    once. A blank query finds nothing.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    name: str | None = Field(default=None, exclude=True, repr=False)
    tags: list[str] | None = Field(default=None, exclude=True, repr=False)
    metadata: dict[str, Any] | None = Field(default=None, exclude=True, repr=False)
    index: Any = Field(default=None, exclude=True, repr=False)
    filter: dict[str, Any] | None = Field(default=None, exclude=True, repr=False)
    top_k: int = Field(default=10, ge=1, description="How many chunks come back.")

    # -- what a member defines -----------------------------------------------------------------------------------

    def search(self, query: str, *, k: int, filter: FilterLike | None, dense: DenseRanking | None) -> Ranked:
        """The best `k` chunks; `dense` is the query's vector and ranking when a batch has made them already."""
        raise NotImplementedError

    def dense_rankings(
        self, queries: Sequence[str], *, k: int, filters: Sequence[FilterLike | None]
    ) -> list[DenseRanking] | None:
        """The dense ranking of each query by one matrix product; None when the retriever has no use for it."""
        return None

    # -- LangChain's side ----------------------------------------------------------------------------------------

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        k: int | None = None,
        top_k: int | None = None,
        filter: FilterLike | None = None,
        dense: DenseRanking | None = None,
    ) -> list[Document]:
        if not query.strip():
            return Ranked(trace=RetrievalTrace(query, warnings=("the query is blank",)))
        return self.search(query, k=self.count(k, top_k), filter=self.filter_for(filter), dense=dense)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        top_k: int | None = None,
        filter: FilterLike | None = None,
        dense: DenseRanking | None = None,
    ) -> list[Document]:
        find = partial(self._get_relevant_documents, query, k=k, top_k=top_k, filter=filter, dense=dense)
        return await run_in_executor(None, find, run_manager=run_manager.get_sync())

    def batch(
        self,
        inputs: list[str],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[list[Document]]:
        """One `Ranked` per query, in order; `filter` may be a list with one filter per query."""
        configs = get_config_list(config, len(inputs))
        calls = self._calls(inputs, kwargs)
        results: list[Any] = []
        for query, each, call in zip(inputs, configs, calls, strict=True):
            try:
                results.append(self.invoke(query, each, **call))
            except Exception as error:
                if not return_exceptions:
                    raise
                results.append(error)
        return results

    async def abatch(
        self,
        inputs: list[str],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[list[Document]]:
        """`batch`, without blocking the loop."""
        configs = get_config_list(config, len(inputs))
        calls = await run_in_executor(None, self._calls, inputs, kwargs)
        work = [self.ainvoke(query, each, **call) for query, each, call in zip(inputs, configs, calls, strict=True)]
        if return_exceptions:
            return await asyncio.gather(*work, return_exceptions=True)  # type: ignore[return-value]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(each) for each in work]
        except BaseExceptionGroup as faults:
            raise faults.exceptions[0] from None  # as `batch` does
        return [task.result() for task in tasks]

    def _calls(self, queries: Sequence[str], kwargs: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The keyword arguments of each query's call, with its own filter and its dense ranking."""
        filters = filter_each(kwargs.get("filter"), len(queries))
        rest = {key: value for key, value in kwargs.items() if key != "filter"}
        calls = [{**rest, "filter": each} for each in filters]
        # A query whose filter cannot be meant fails by itself, when it is invoked.
        wanted = [place for place, query in enumerate(queries) if query.strip() and _can_be_meant(filters[place])]
        rankings = self.dense_rankings(
            [queries[place] for place in wanted],
            k=self.count(kwargs.get("k"), kwargs.get("top_k")),
            filters=[self.filter_for(filters[place]) for place in wanted],
        )
        for place, ranking in zip(wanted, rankings or (), strict=False):
            calls[place]["dense"] = ranking
        return calls

    # -- helpers -------------------------------------------------------------------------------------------------

    def count(self, k: int | None, top_k: int | None) -> int:
        """How many to return in this call."""
        count = k if k is not None else top_k if top_k is not None else self.top_k
        if not isinstance(count, SupportsIndex):
            raise ConfigError(f"k: expected a whole number, found {count!r} ({type(count).__name__})")
        if count < 1:
            raise ConfigError(f"k: {count} chunks were asked for; ask for 1 or more")
        return count

    def filter_for(self, filter: FilterLike | None) -> FilterLike | None:
        """The filter of the call and the retriever's own, both of which a chunk must pass."""
        if filter is None or (isinstance(filter, Mapping) and not filter):
            return self.filter or None
        return {"$and": [self.filter, filter]} if self.filter else filter

    @property
    def corpus(self) -> Index:
        """The index; ConfigError when the retriever was not given one."""
        if self.index is None:
            raise ConfigError(f"{type(self).__name__}: no index; give it one with `index=LocalIndex.open(folder)`")
        index: Index = self.index
        return index

    def ranked(self, trace: RetrievalTrace, hits: Sequence[Hit]) -> Ranked:
        """The documents of `hits`, copies with their stages, and the trace."""
        documents = self.corpus.get([hit.chunk_id for hit in hits])
        return Ranked(annotate(documents, trace), trace)


def _can_be_meant(filter: Any) -> bool:
    try:
        return filter is None or bool(parse_filter(filter))
    except ConfigError:
        return False
