"""Retrieval and whole answers as tools for agents; documents and citations survive as the tool message's artifact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from rag_app.answer import Answer
from rag_app.synthesize.safety import quarantine
from rag_app.types import ConfigError

_NOTHING = "Nothing relevant was found."


class _Query(BaseModel):
    query: str = Field(description="What to look for, in plain words.")


def as_tool(
    source: Runnable[Any, Any],
    *,
    name: str | None = None,
    description: str | None = None,
    withhold_instructions: bool = True,
) -> BaseTool:
    """A tool over a retriever or over a chain that gives an Answer.

    Over a retriever the content is the numbered passages and the artifact the list of Documents, in that order. Over a
    chain the content is the answer with its sources, and the artifact the Answer as plain JSON values
    (`Answer.from_json` takes it back).
    """
    if isinstance(source, BaseRetriever):
        return _retriever_tool(
            source,
            name or "search_documents",
            description or "Search the documents; returns numbered passages to cite as [1], [2], ...",
            withhold_instructions,
        )
    if not isinstance(source, Runnable):
        raise ConfigError(
            f"as_tool() got a {type(source).__name__}; give it a retriever or a chain that gives an Answer"
        )
    return _answer_tool(
        source,
        name or "ask_documents",
        description or "Ask a question about the documents; returns an answer with citations and their quotes.",
    )


def _retriever_tool(retriever: BaseRetriever, name: str, description: str, withhold: bool) -> BaseTool:
    def content(documents: Sequence[Document]) -> tuple[str, list[Document]]:
        shown = quarantine(documents).evidence if withhold else documents
        passages = [_passage(number, document) for number, document in enumerate(shown, start=1)]
        return "\n\n".join(passages) or _NOTHING, list(documents)

    def search(query: str, config: RunnableConfig) -> tuple[str, list[Document]]:
        return content(retriever.invoke(query, config))

    async def asearch(query: str, config: RunnableConfig) -> tuple[str, list[Document]]:
        return content(await retriever.ainvoke(query, config))

    return StructuredTool.from_function(
        search, asearch, name=name, description=description, args_schema=_Query, response_format="content_and_artifact"
    )


def _passage(number: int, document: Document) -> str:
    source, page = document.metadata.get("source"), document.metadata.get("page")
    place = ", ".join([str(source)] * bool(source) + [f"page {page}"] * (page is not None))
    return f"[{number}] {f'({place}) ' if place else ''}{document.page_content}"


def _answer_tool(chain: Runnable[Any, Any], name: str, description: str) -> BaseTool:
    def content(answer: Any) -> tuple[str, Any]:
        if not isinstance(answer, Answer):
            raise ConfigError(f"the chain gave a {type(answer).__name__}, as_tool() needs one that gives an Answer")
        sources = {c.marker: f"[{c.marker}] {c.source}{f', page {c.page}' if c.page else ''}" for c in answer.citations}
        listed = "\n".join(sources[marker] for marker in sorted(sources))
        return (f"{answer.text}\n\nSources:\n{listed}" if listed else answer.text), answer.to_dict()

    def ask(query: str, config: RunnableConfig) -> tuple[str, Any]:
        return content(chain.invoke(query, config))

    async def aask(query: str, config: RunnableConfig) -> tuple[str, Any]:
        return content(await chain.ainvoke(query, config))

    return StructuredTool.from_function(
        ask, aask, name=name, description=description, args_schema=_Query, response_format="content_and_artifact"
    )
