"""Load: files, folders and Documents become documents with normalized text, an id, metadata and a layout."""

from rag_app.load.loader import Loader, duplicates, from_documents, load_path
from rag_app.load.parsed import ReadOptions

__all__ = ["Loader", "ReadOptions", "duplicates", "from_documents", "load_path"]
