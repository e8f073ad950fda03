"""Chunks under two rankings, BM25 and vectors, with the documents they are spans of."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rag_app.index.base import FilterLike, Index
from rag_app.index.local import LocalIndex
from rag_app.index.settings import BM25Settings, IndexSettings

if TYPE_CHECKING:
    from rag_app.index.vectorstore import LocalVectorStore as LocalVectorStore

__all__ = ["BM25Settings", "FilterLike", "Index", "IndexSettings", "LocalIndex", "LocalVectorStore"]


def __getattr__(name: str) -> Any:
    # LangChain's vector stores bring its tracers along: a second of imports that an index has no use for.
    if name != "LocalVectorStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("rag_app.index.vectorstore").LocalVectorStore
