"""LangChain's retriever over a `LocalVectorStore`, with filters for each query of a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_config_list, get_executor_for_config
from langchain_core.vectorstores import VectorStoreRetriever

from rag_app.filters import filter_each

Configs = RunnableConfig | list[RunnableConfig] | None


class LocalStoreRetriever(VectorStoreRetriever):
    """`batch` and `abatch` take one filter for all queries, or a list with one (or None) for each."""

    def batch(
        self, inputs: list[str], config: Configs = None, *, return_exceptions: bool = False, **kwargs: Any
    ) -> list[list[Document]]:
        """The documents of each query, in order; ConfigError when filters and queries differ in number."""
        calls = _calls(inputs, kwargs)
        configs = get_config_list(config, len(inputs))

        def one(query: str, each: RunnableConfig, call: dict[str, Any]) -> Any:
            try:
                return self.invoke(query, each, **call)
            except Exception as error:
                if return_exceptions:
                    return error
                raise

        if not inputs:
            return []
        with get_executor_for_config(configs[0]) as pool:
            return list(pool.map(one, inputs, configs, calls))

    async def abatch(
        self, inputs: list[str], config: Configs = None, *, return_exceptions: bool = False, **kwargs: Any
    ) -> list[list[Document]]:
        """`batch`, without blocking the loop."""
        calls = zip(inputs, get_config_list(config, len(inputs)), _calls(inputs, kwargs), strict=True)
        work = [self.ainvoke(query, each, **call) for query, each, call in calls]
        found: list[Any] = await asyncio.gather(*work, return_exceptions=return_exceptions)
        return found


def _calls(queries: Sequence[str], kwargs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The keyword arguments of each query's call."""
    if "filter" not in kwargs:
        return [dict(kwargs) for _ in queries]
    return [{**kwargs, "filter": filter} for filter in filter_each(kwargs["filter"], len(queries))]
