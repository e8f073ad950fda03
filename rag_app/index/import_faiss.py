"""Reads what `langchain_community.vectorstores.FAISS.save_local` wrote. The one place where a pickle is read.

The unpickler builds Documents with plain metadata (dates and numpy's numbers included) and the in-memory docstore, and
refuses everything else, so a file made to run code fails instead.
"""

from __future__ import annotations

import datetime as dt
import io
import pickle
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from rag_app.embed import as_embedder
from rag_app.embed.base import Embedder, unit_rows
from rag_app.embed.checks import vector_faults
from rag_app.embed.retry import with_retry
from rag_app.index.local import LocalIndex
from rag_app.index.local.container import Array
from rag_app.index.settings import IndexSettings
from rag_app.types import ConfigError, IndexDamagedError, IndexMismatchError, IndexMissingError, LoadedDocument


class _State:
    """Holds the attributes of a pickled object, and does nothing."""

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Docstore(_State):
    pass


class _Document(_State):
    pass


class _NumberType(_State):
    """In place of `numpy.dtype`."""

    def __init__(self, code: str, *_: Any) -> None:
        self.code = code


def _number(kind: Any, raw: Any) -> Any:
    """In place of `numpy._core.multiarray.scalar`: the number as Python's own."""
    order = kind.state[1] if isinstance(kind, _NumberType) and hasattr(kind, "state") else None
    if order not in ("<", ">", "|") or not re.fullmatch(r"[biuf][1248]", kind.code) or not isinstance(raw, bytes):
        raise pickle.UnpicklingError("it holds a numpy value that is no number, which is refused")
    return np.frombuffer(raw, dtype=f"{order}{kind.code}")[0].item()


_ALLOWED = {
    ("langchain_community.docstore.in_memory", "InMemoryDocstore"): _Docstore,
    ("langchain.docstore.in_memory", "InMemoryDocstore"): _Docstore,
    ("langchain_classic.docstore.in_memory", "InMemoryDocstore"): _Docstore,
    ("langchain_core.documents.base", "Document"): _Document,
    ("langchain.schema.document", "Document"): _Document,
    ("langchain.schema", "Document"): _Document,
    ("langchain.docstore.document", "Document"): _Document,
    ("datetime", "datetime"): dt.datetime,
    ("datetime", "date"): dt.date,
    ("datetime", "timezone"): dt.timezone,
    ("datetime", "timedelta"): dt.timedelta,
    ("collections", "OrderedDict"): dict,
    ("numpy", "dtype"): _NumberType,
    ("numpy._core.multiarray", "scalar"): _number,
    ("numpy.core.multiarray", "scalar"): _number,
}
# The vectors of another model have a cosine near 0 with those of the one at hand; of the same model, 8 bits a number or
# a shorter window included, above .8.
_SAME_MODEL = 0.5
_PROBES = 16


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"it wants to build {module}.{name}, which is refused: Documents with plain metadata are read"
            ) from None

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to objects outside the file, which is refused")


def read_docstore(raw: bytes) -> tuple[dict[str, Document], dict[int, str]]:
    """(documents by id, id by row) from the pickle's bytes; UnpicklingError for anything but Documents."""
    loaded = _Unpickler(io.BytesIO(raw)).load()
    store, rows = loaded
    if not isinstance(store, _Docstore) or not isinstance(rows, dict):
        raise pickle.UnpicklingError("it is no docstore with its rows")
    held = store.state["_dict"] if isinstance(store.state, dict) else {}
    documents = {str(key): _document(str(key), value) for key, value in held.items()}
    if len(documents) < len(held):
        twice = next(name for name in documents if sum(str(key) == name for key in held) > 1)
        raise pickle.UnpicklingError(f"it has two documents whose id as text is {twice!r}")
    return documents, {int(row): str(doc_id) for row, doc_id in rows.items()}


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

    Vectors are scaled to length 1; the embedder makes those that cannot be used (NaN, zero). Rows without a Document
    are left out, with a warning. IndexMismatchError when the vectors are not the embedder's, IndexDamagedError when the
    pickle holds anything but Documents.
    """
    source = Path(folder)
    vectors_file, docstore_file = source / f"{name}.faiss", source / f"{name}.pkl"
    for file in (vectors_file, docstore_file):
        if not file.exists():
            raise IndexMissingError(f"{file} is not there; name the folder that FAISS.save_local wrote")
    vectors, places = _vectors(vectors_file)
    try:
        documents, rows = read_docstore(docstore_file.read_bytes())
    except Exception as error:  # bytes made to harm end a pickle machine in many ways
        raise IndexDamagedError(f"{docstore_file} is not read: {error or type(error).__name__}") from error
    beyond = [row for row in rows if row not in places]
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
    lost = sum(doc_id not in documents for doc_id in rows.values())
    if lost:
        warnings.warn(f"{docstore_file}: {lost} of {len(rows)} rows have no document; left out", stacklevel=2)
    row_of = {doc_id: row for row, doc_id in sorted(rows.items(), reverse=True) if doc_id in documents}
    chunks = [documents[doc_id] for doc_id in reversed(row_of)]
    stored = [vectors[places[row_of[str(chunk.id)]]] for chunk in chunks]
    faults = vector_faults(stored, dimension=own.dimension)
    given = {
        str(chunk.id): vector
        for chunk, vector, fault in zip(chunks, stored, faults, strict=True)
        if fault is None and chunk.page_content.strip()
    }
    _check_model(vectors_file, own, documents, given)
    if LocalIndex.exists(path):
        raise ConfigError(f"there is an index in {path} already; name a new folder")
    index = LocalIndex.create(path, embedder=own, settings=settings, overwrite=True)  # not there before its commit
    with index:
        for chunk in chunks:
            doc_id = str(chunk.id)
            loaded = LoadedDocument(id=doc_id, page_content=chunk.page_content, metadata=chunk.metadata)
            index.upsert(loaded, [chunk], vectors={doc_id: given[doc_id]} if doc_id in given else None, replace="id")
    return index


def _check_model(
    file: Path, embedder: Embedder, documents: Mapping[str, Document], vectors: Mapping[str, Array]
) -> None:
    """IndexMismatchError when the embedder gives a sample of the texts quite other vectors than the store has."""
    sample = list(vectors)[:: max(1, len(vectors) // _PROBES)][:_PROBES]
    if not sample:
        return
    texts = [documents[doc_id].page_content for doc_id in sample]
    here = with_retry(lambda: embedder.encode(texts), embedder.retry_waits)
    likeness = float(np.median([row @ vectors[doc_id] for row, doc_id in zip(here, sample, strict=True)]))
    if likeness < _SAME_MODEL:
        raise IndexMismatchError(
            f"the vectors in {file} are not those of {embedder.name}: their median cosine with the vectors it gives "
            f"the same texts is {likeness:.2f}; set `embed` to the model that it was built with"
        )


def _vectors(file: Path) -> tuple[Array, dict[int, int]]:
    """(unit rows, the place of each FAISS id in them); rows that cannot be scaled stay as they are."""
    import faiss

    try:
        whole: Any = faiss.read_index(str(file))
        stored, ids = whole, range(whole.ntotal)
        if isinstance(whole, faiss.IndexIDMap):  # it owns what it is a map of
            stored, ids = faiss.downcast_index(whole.index), faiss.vector_to_array(whole.id_map).tolist()
        if isinstance(stored, faiss.IndexIVF):
            stored.make_direct_map()
        if stored.ntotal:
            stored.reconstruct(0)  # what cannot do this ends the process when asked for many at once
        rows = np.asarray(stored.reconstruct_n(0, stored.ntotal), dtype=np.float32).reshape(len(ids), stored.d)
    except RuntimeError as error:
        raise IndexDamagedError(f"{file} is no FAISS index that gives its vectors back ({error})") from error
    return unit_rows(rows), {one: place for place, one in enumerate(ids)}
