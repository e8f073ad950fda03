"""All vectors of an index anew, with another embedder; documents, chunks and settings stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from langchain_core.embeddings import Embeddings

from rag_app.index.local import LocalIndex


def reembed_index(
    path: str | Path, embedder: Embeddings, *, progress: Callable[[int, int, str], None] | None = None
) -> LocalIndex:
    """The index with vectors of `embedder`; readers see the old one until all are made."""
    old = LocalIndex.open(path)
    new = LocalIndex.create(path, embedder=embedder, settings=old.settings, overwrite=True)
    with new:
        old.refresh()  # with what another writer put in while we waited for the lock
        for doc_id, _, fingerprint in old.documents():
            new.upsert(old.document(doc_id), old.chunks_of(doc_id), fingerprint=fingerprint, replace="id")
        splitter = old.manifest["splitter"]
        if splitter is not None:
            new.set_splitter(splitter)
        new.commit(progress)
        new.prune_cache()
    return new
