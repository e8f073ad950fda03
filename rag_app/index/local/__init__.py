"""The index as a folder on disk."""

from rag_app.index.local.index import LocalIndex

__all__ = ["LocalIndex"]
