"""Load: files, folders and Documents become documents with normalized text, an id, metadata and a layout.

Worker processes import this package for its readers alone, and start in half the time without the loader.
"""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.load.loader import Loader, duplicates, from_documents, load_path, text_digest
    from rag_app.load.parsed import ReadOptions

__all__ = ["Loader", "ReadOptions", "duplicates", "from_documents", "load_path", "text_digest"]

__getattr__ = lazy_names(
    __name__,
    {
        "loader": ("Loader", "duplicates", "from_documents", "load_path", "text_digest"),
        "parsed": ("ReadOptions",),
    },
)
