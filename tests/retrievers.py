"""Retrievers of somebody else's, and the trace of what was found."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from rag_app.trace import Ranked


class Fixed(BaseRetriever):
    """A foreign retriever that returns what it was given."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


class Broken(BaseRetriever):
    """A foreign retriever whose service is down."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError("the service is down")


def trace(found: Any) -> Any:
    assert isinstance(found, Ranked)
    return found.trace
