"""Indexes for a handful of texts that live as long as the object over them."""

from __future__ import annotations

import shutil
import tempfile
import uuid
import weakref
from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from rag_app.index.local import LocalIndex
from rag_app.index.settings import IndexSettings
from rag_app.types import ConfigError, LoadedDocument


def temporary_index(embedder: Embeddings | None, settings: IndexSettings | None = None) -> LocalIndex:
    """An empty index in a temporary folder, which is removed with the object or at the end of the program."""
    folder = tempfile.mkdtemp(prefix="rag-app-")
    try:
        index = LocalIndex.create(folder, embedder=embedder, settings=settings)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(index, shutil.rmtree, folder, ignore_errors=True)
    return index


def named(documents: Sequence[Document], ids: Sequence[str | None] | None = None) -> tuple[list[str], list[Document]]:
    """The name of each document (from `ids`, its own id, or a new one), and copies under it: the last of equal names.

    ConfigError when there is not one id per document.
    """
    if ids is not None and len(ids) != len(documents):
        raise ConfigError(f"ids: {len(ids)} for {len(documents)} documents; give one each")
    names = [str((ids[i] if ids else d.id) or uuid.uuid4()) for i, d in enumerate(documents)]
    chunks = {name: d.model_copy(update={"id": name}) for name, d in zip(names, documents, strict=True)}
    return names, list(chunks.values())


def put_whole(index: LocalIndex, chunks: Sequence[Document]) -> None:
    """Documents that are their own only chunk into the index, in one commit; one of the same id is replaced."""
    with index.transaction():
        for chunk in chunks:
            whole = LoadedDocument(id=str(chunk.id), page_content=chunk.page_content, metadata=dict(chunk.metadata))
            index.upsert(whole, [chunk], replace="id")
