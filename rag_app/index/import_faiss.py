"""Reads what `langchain_community.vectorstores.FAISS.save_local` wrote. The one place where a pickle is read.

The unpickler builds Documents, the in-memory docstore and plain containers, and refuses everything else, so a file made
to run code fails instead.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from rag_app.embed import as_embedder
from rag_app.embed.base import unit_rows
from rag_app.index.local import LocalIndex
from rag_app.index.settings import IndexSettings
from rag_app.types import IndexDamagedError, IndexMismatchError, IndexMissingError, LoadedDocument


class _State:
    """Holds the attributes of a pickled object, and does nothing."""

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Docstore(_State):
    pass


class _Document(_State):
    pass


_ALLOWED = {
    ("langchain_community.docstore.in_memory", "InMemoryDocstore"): _Docstore,
    ("langchain.docstore.in_memory", "InMemoryDocstore"): _Docstore,
    ("langchain_classic.docstore.in_memory", "InMemoryDocstore"): _Docstore,
    ("langchain_core.documents.base", "Document"): _Document,
    ("langchain.schema.document", "Document"): _Document,
    ("langchain.schema", "Document"): _Document,
    ("langchain.docstore.document", "Document"): _Document,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it wants to build {module}.{name}, which is refused") from None

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to objects outside the file, which is refused")


def read_docstore(raw: bytes) -> tuple[dict[str, Document], dict[int, str]]:
    """(documents by id, id by row) from the pickle's bytes; UnpicklingError for anything but Documents."""
    loaded = _Unpickler(io.BytesIO(raw)).load()
    store, rows = loaded
    if not isinstance(store, _Docstore) or not isinstance(rows, dict):
        raise pickle.UnpicklingError("it is no docstore with its rows")
    held = store.state["_dict"] if isinstance(store.state, dict) else {}
    return {str(key): _document(str(key), value) for key, value in held.items()}, {
        int(row): str(doc_id) for row, doc_id in rows.items()
    }


def _document(doc_id: str, pickled: Any) -> Document:
    if not isinstance(pickled, _Document):
        raise pickle.UnpicklingError(f"{doc_id} is no Document")
    state = pickled.state
    fields = state.get("__dict__", state)
    return Document(id=doc_id, page_content=fields["page_content"], metadata=dict(fields.get("metadata") or {}))


def import_faiss(
    folder: str | Path,
    path: str | Path,
    *,
    embedder: Embeddings,
    settings: IndexSettings | None = None,
    name: str = "index",
) -> LocalIndex:
    """A new index in `path` with the Documents and vectors of a LangChain FAISS folder; ids and metadata are kept.

    Vectors are scaled to length 1. IndexMismatchError when their dimension is not the embedder's, IndexDamagedError
    when the pickle holds anything but Documents.
    """
    source = Path(folder)
    vectors_file, docstore_file = source / f"{name}.faiss", source / f"{name}.pkl"
    for file in (vectors_file, docstore_file):
        if not file.exists():
            raise IndexMissingError(f"{file} is not there; name the folder that FAISS.save_local wrote")
    vectors = _vectors(vectors_file)
    try:
        documents, rows = read_docstore(docstore_file.read_bytes())
    except (pickle.UnpicklingError, EOFError, AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise IndexDamagedError(f"{docstore_file} is not read: {error}") from error
    beyond = [row for row in rows if not 0 <= row < len(vectors)]
    if beyond:
        raise IndexDamagedError(
            f"{docstore_file} names row {beyond[0]}, {vectors_file.name} holds {len(vectors)} vectors; "
            "the two files are of different stores: save the store again"
        )
    own = as_embedder(embedder)
    if vectors.shape[1] != own.dimension:
        raise IndexMismatchError(
            f"{vectors_file} holds vectors of dimension {vectors.shape[1]}, {own.name} makes {own.dimension}; "
            "set `embed` to the model that it was built with"
        )
    index = LocalIndex.create(path, embedder=own, settings=settings)
    with index:
        for row, doc_id in sorted(rows.items()):
            if doc_id in documents:
                chunk = documents[doc_id]
                loaded = LoadedDocument(id=doc_id, page_content=chunk.page_content, metadata=chunk.metadata)
                index.upsert(loaded, [chunk], vectors={doc_id: vectors[row]}, replace="id")
    return index


def _vectors(file: Path) -> Any:
    import faiss

    try:
        stored = faiss.read_index(str(file))
        return unit_rows(np.asarray(stored.reconstruct_n(0, stored.ntotal), dtype=np.float32))
    except RuntimeError as error:
        raise IndexDamagedError(f"{file} is no FAISS index that gives its vectors back ({error})") from error
