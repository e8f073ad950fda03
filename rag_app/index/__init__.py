"""Chunks under two rankings, BM25 and vectors, with the documents they are spans of."""

from rag_app.index.base import FilterLike, Index
from rag_app.index.local import LocalIndex
from rag_app.index.settings import BM25Settings, IndexSettings
from rag_app.index.vectorstore import LocalVectorStore

__all__ = ["BM25Settings", "FilterLike", "Index", "IndexSettings", "LocalIndex", "LocalVectorStore"]
