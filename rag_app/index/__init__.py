"""Chunks under two rankings, BM25 and vectors, with the documents they are spans of.

Opening an index takes numpy alone; what brings pydantic or LangChain along is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rag_app.index.base import FilterLike, Index
from rag_app.index.local import LocalIndex

if TYPE_CHECKING:
    from rag_app.index.settings import BM25Settings as BM25Settings
    from rag_app.index.settings import IndexSettings as IndexSettings
    from rag_app.index.vectorstore import LocalVectorStore as LocalVectorStore

__all__ = ["BM25Settings", "FilterLike", "Index", "IndexSettings", "LocalIndex", "LocalVectorStore"]

_HOME = {"BM25Settings": "settings", "IndexSettings": "settings", "LocalVectorStore": "vectorstore"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
