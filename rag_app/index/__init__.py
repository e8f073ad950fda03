"""Chunks under two rankings, BM25 and vectors, with the documents they are spans of.

Opening an index takes Python alone; numpy comes with the first question, pydantic and LangChain with what needs them.
"""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.index.base import FilterLike, Index
    from rag_app.index.local import LocalIndex
    from rag_app.index.settings import BM25Settings, IndexSettings
    from rag_app.index.vectorstore import LocalVectorStore

__all__ = ["BM25Settings", "FilterLike", "Index", "IndexSettings", "LocalIndex", "LocalVectorStore"]

__getattr__ = lazy_names(
    __name__,
    {
        "base": ("FilterLike", "Index"),
        "local": ("LocalIndex",),
        "settings": ("BM25Settings", "IndexSettings"),
        "vectorstore": ("LocalVectorStore",),
    },
)
