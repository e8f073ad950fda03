"""Load: files, folders and Documents become documents with normalized text, an id, metadata and a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_app.load.loader import Loader, duplicates, from_documents, load_path, text_digest
    from rag_app.load.parsed import ReadOptions

__all__ = ["Loader", "ReadOptions", "duplicates", "from_documents", "load_path", "text_digest"]


def __getattr__(name: str) -> Any:
    # Worker processes import this package for its readers alone, and start in half the time without the loader.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("rag_app.load." + ("parsed" if name == "ReadOptions" else "loader")), name)
