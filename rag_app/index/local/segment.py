"""A segment: chunks and their documents in files that never change. Rows stand in order of chunk id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_app.errors import IndexDamagedError
from rag_app.index.local.columns import Columns, build_columns
from rag_app.index.local.container import (
    Array,
    Lines,
    Strings,
    array_of,
    arrays_of,
    encode,
    pack,
    prefixes_of,
    write_arrays,
    write_lines,
)
from rag_app.index.local.manifest import describe
from rag_app.index.local.mapped import ARRAYS, CHUNKS, DOCUMENTS, VECTORS, SegmentFiles, map_file, sync_file
from rag_app.index.local.neighbors import FILES, SMALLEST, Neighbors, write_neighbors
from rag_app.index.local.records import chunk_line, revived, text_to_index

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.index.local.postings import Postings, TermsOfEach


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document on its way into a segment: its line, and what is looked up without reading the line."""

    doc_id: str
    source: str
    fingerprint: str
    language: str
    line: bytes


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk on its way into a segment; `vector` is None for a blank chunk or an index without vectors."""

    chunk: Document
    doc_id: str
    vector: Array | None


class Segment:
    """Reads a segment, from its folder or from files that were mapped before."""

    def __init__(self, folder: Path, dimension: int, files: SegmentFiles | None = None) -> None:
        self.folder = folder
        self.name = folder.name
        files = files or SegmentFiles(folder)
        arrays, meta = arrays_of(files.arrays), files.arrays.meta
        try:
            self.rows = int(meta["rows"])
            self.languages: list[str] = meta["languages"]
            self.descriptions: list[dict[str, Any]] = meta["fields"]
            self.ids = Strings(arrays["ids"], arrays["ids.offsets"], arrays["ids.prefixes"])
            self.doc_ids = Strings(arrays["doc_ids"], arrays["doc_ids.offsets"], arrays["doc_ids.prefixes"])
            self.doc_sources = Strings(arrays["doc_sources"], arrays["doc_sources.offsets"])
            self.fingerprints = Strings(arrays["fingerprints"], arrays["fingerprints.offsets"])
            self.by_source: Array = arrays["by_source"]
            self.doc_of_row: Array = arrays["doc_of_row"]
            self.doc_language: Array = arrays["doc_language"]
            self.lengths: Array = arrays["lengths"]
            self.terms = Strings(arrays["terms"], arrays["terms.offsets"], arrays["terms.prefixes"])
            self.indptr: Array = arrays["indptr"]
            self.posting_rows: Array = arrays["rows"]
            self.counts: Array = arrays["counts"]
            self.no_vector: Array = arrays["no_vector"]
            self.chunks = Lines(folder / CHUNKS, files.chunks, arrays["chunk_lines"])
            self.documents = Lines(folder / DOCUMENTS, files.documents, arrays["document_lines"])
            self.columns = Columns(arrays, self.descriptions, self.rows)
            vectors = array_of(files.vectors).view(np.float32)
            self.vectors: Array = (
                vectors.reshape(self.rows, dimension) if dimension else np.empty((self.rows, 0), np.float32)
            )
            there = [(kind, folder / name) for kind, name in FILES.items() if (folder / name).exists()]
            self.neighbors = Neighbors(there[0][1], there[0][0]) if there else None
        except (KeyError, ValueError, TypeError) as error:
            raise IndexDamagedError(f"{folder} is damaged ({error}); rebuild with `rag-app index --rebuild`") from error

    def postings(self, term: bytes) -> tuple[Array, Array] | None:
        """(rows, counts) of a term; None when no chunk has it."""
        place = self.terms.first_at_least(term)
        if place == len(self.terms) or self.terms.raw(place) != term:
            return None
        a, b = int(self.indptr[place]), int(self.indptr[place + 1])
        return self.posting_rows[a:b], self.counts[a:b]

    def documents_of(self, source: str) -> list[int]:
        """The numbers of the documents of a source."""
        key, low, high = encode(source), 0, len(self.by_source)
        while low < high:
            middle = (low + high) // 2
            if self.doc_sources.raw(int(self.by_source[middle])) < key:
                low = middle + 1
            else:
                high = middle
        found: list[int] = []
        while low < len(self.by_source) and self.doc_sources.raw(int(self.by_source[low])) == key:
            found.append(int(self.by_source[low]))
            low += 1
        return found

    def rows_of_document(self, number: int) -> Array:
        """The rows of a document's chunks."""
        return np.flatnonzero(self.doc_of_row == number)


def write_segment(
    folder: Path,
    documents: Sequence[StoredDocument],
    chunks: Sequence[StoredChunk],
    *,
    dimension: int,
    dense: str,
    terms_of_each: TermsOfEach,
) -> dict[str, Any]:
    """Write documents and chunks as a new segment; its entry for the manifest."""
    from rag_app.index.local.postings import build_postings

    documents = sorted(documents, key=lambda d: encode(d.doc_id))
    chunks = sorted(chunks, key=lambda c: encode(str(c.chunk.id)))
    number = {document.doc_id: i for i, document in enumerate(documents)}
    postings = build_postings(
        ((text_to_index(c.chunk), documents[number[c.doc_id]].language) for c in chunks), terms_of_each
    )
    columns, fields = build_columns(c.chunk.metadata for c in chunks)
    folder.mkdir(parents=True)
    with (folder / VECTORS).open("wb") as out:
        zero = np.zeros(dimension, dtype=np.float32)
        for c in chunks:
            out.write(np.ascontiguousarray(zero if c.vector is None else c.vector, dtype=np.float32).data)
    no_vector = np.asarray([i for i, c in enumerate(chunks) if c.vector is None], dtype=np.int32)
    return _finish(
        folder,
        documents,
        ids=[encode(str(c.chunk.id)) for c in chunks],
        chunk_lines=write_lines(folder / CHUNKS, (chunk_line(c.chunk) for c in chunks)),
        doc_of_row=np.asarray([number[c.doc_id] for c in chunks], dtype=np.int32),
        postings=postings,
        no_vector=no_vector,
        columns=columns,
        fields=fields,
        dimension=dimension,
        dense=dense,
    )


def _finish(
    folder: Path,
    documents: Sequence[StoredDocument],
    *,
    ids: Sequence[bytes],
    chunk_lines: Array,
    doc_of_row: Array,
    postings: Postings,
    no_vector: Array,
    columns: Mapping[str, Array],
    fields: list[dict[str, Any]],
    dimension: int,
    dense: str,
) -> dict[str, Any]:
    sources = [encode(document.source) for document in documents]
    languages = sorted({document.language for document in documents})
    arrays: dict[str, Array] = {}
    for name, items in (
        ("ids", list(ids)),
        ("doc_ids", [encode(document.doc_id) for document in documents]),
        ("doc_sources", sources),
        ("fingerprints", [encode(document.fingerprint) for document in documents]),
        ("terms", postings.terms),
    ):
        arrays[name], arrays[f"{name}.offsets"] = pack(items)
        if name in ("ids", "doc_ids", "terms"):
            arrays[f"{name}.prefixes"] = prefixes_of(items)
    arrays["by_source"] = np.asarray(sorted(range(len(sources)), key=lambda i: (sources[i], i)), dtype=np.int32)
    arrays["doc_of_row"] = doc_of_row
    arrays["doc_language"] = np.asarray([languages.index(d.language) for d in documents], dtype=np.uint8)
    arrays["lengths"] = postings.lengths
    arrays["indptr"], arrays["rows"], arrays["counts"] = postings.indptr, postings.rows, postings.counts
    arrays["no_vector"] = no_vector
    arrays["chunk_lines"] = chunk_lines
    arrays["document_lines"] = write_lines(folder / DOCUMENTS, (document.line for document in documents))
    write_arrays(folder / ARRAYS, {**arrays, **columns}, {"rows": len(ids), "languages": languages, "fields": fields})
    names = [ARRAYS, CHUNKS, DOCUMENTS, VECTORS]
    if dense in FILES and dimension and len(ids) >= SMALLEST:
        vectors = array_of(map_file(folder / VECTORS)).view(np.float32).reshape(len(ids), dimension)
        write_neighbors(folder / FILES[dense], vectors, dense)
        names.append(FILES[dense])
    for name in names:
        sync_file(folder / name)
    sync_file(folder)
    files = {name: describe(folder / name) for name in names}
    return {"name": folder.name, "rows": len(ids), "documents": len(documents), "files": files, "deleted": None}


def merge_segments(
    folder: Path, parts: Sequence[tuple[Segment, Array, Array]], *, dimension: int, dense: str
) -> dict[str, Any]:
    """One segment with the live rows and documents of several (segment, live rows, live documents: booleans)."""
    from rag_app.index.local.postings import merge_postings

    documents = [
        StoredDocument(
            segment.doc_ids[i],
            segment.doc_sources[i],
            segment.fingerprints[i],
            segment.languages[int(segment.doc_language[i])],
            segment.documents.raw(i),
        )
        for segment, _, live in parts
        for i in np.flatnonzero(live).tolist()
    ]
    documents.sort(key=lambda d: encode(d.doc_id))
    number = {document.doc_id: i for i, document in enumerate(documents)}
    order = sorted(
        (segment.ids.raw(row), p, row)
        for p, (segment, live, _) in enumerate(parts)
        for row in np.flatnonzero(live).tolist()
    )
    moved = [np.full(segment.rows, -1, dtype=np.int64) for segment, _, _ in parts]
    for new, (_, p, row) in enumerate(order):
        moved[p][row] = new
    lengths = np.asarray([parts[p][0].lengths[row] for _, p, row in order], dtype=np.int32)
    lists = [
        (segment.terms, segment.indptr, segment.posting_rows, segment.counts, moved[p])
        for p, (segment, _, _) in enumerate(parts)
    ]
    renumbered = [
        np.asarray([number.get(doc_id, -1) for doc_id in segment.doc_ids.all()], dtype=np.int32)
        for segment, _, _ in parts
    ]
    folder.mkdir(parents=True)
    with (folder / VECTORS).open("wb") as out:
        for _, p, row in order:
            out.write(np.ascontiguousarray(parts[p][0].vectors[row]).data)
    columns, fields = build_columns(revived(parts[p][0].chunks[row]["metadata"]) for _, p, row in order)
    without = [moved[p][segment.no_vector] for p, (segment, _, _) in enumerate(parts)]
    no_vector = np.sort(np.concatenate(without)) if without else np.empty(0, np.int64)
    return _finish(
        folder,
        documents,
        ids=[chunk_id for chunk_id, _, _ in order],
        chunk_lines=write_lines(folder / CHUNKS, (parts[p][0].chunks.raw(row) for _, p, row in order)),
        doc_of_row=np.asarray([renumbered[p][parts[p][0].doc_of_row[row]] for _, p, row in order], dtype=np.int32),
        postings=merge_postings(lists, lengths),
        no_vector=no_vector[no_vector >= 0].astype(np.int32),
        columns=columns,
        fields=fields,
        dimension=dimension,
        dense=dense,
    )
