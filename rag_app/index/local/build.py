"""Segments are written: from chunks and their documents, or from several segments as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rag_app.index.local.columns import build_columns, merge_columns
from rag_app.index.local.container import Array, array_of, encode, pack, prefixes_of, write_arrays, write_lines
from rag_app.index.local.manifest import describe
from rag_app.index.local.mapped import ARRAYS, CHUNKS, DOCUMENTS, VECTORS, map_file, sync_file
from rag_app.index.local.neighbors import FILES, SMALLEST, write_neighbors
from rag_app.index.local.postings import Postings, build_postings, merge_postings
from rag_app.index.local.records import chunk_line, text_to_index
from rag_app.index.local.segment import Segment

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.text import Analyzer

_ROWS = 256  # vectors that are written at a time


class StoredDocument(NamedTuple):
    """A document on its way into a segment: what makes its line, and what is looked up without reading the line."""

    doc_id: str
    source: str
    fingerprint: str
    language: str
    line: Callable[[], bytes]


class StoredChunk(NamedTuple):
    """A chunk on its way into a segment; `vector` is None for a blank chunk or an index without vectors."""

    chunk: Document
    doc_id: str
    vector: Array | None


def _postings_of(texts: Iterable[tuple[str, str]], analyzer: Analyzer) -> Postings:
    """The inverted lists of (text, language): by the words of our analyzer; one of another class sees whole texts."""
    from rag_app.text import Analyzer

    if type(analyzer) is Analyzer:
        return build_postings(texts, lambda words, language: analyzer.index_terms_each(words, language=language))

    def terms_of_each(wholes: Iterable[str], language: str) -> Iterable[Sequence[str]]:
        return (analyzer.index_terms(text, language=language) for text in wholes)

    return build_postings(texts, terms_of_each, by_word=False)


def write_segment(
    folder: Path,
    documents: Iterable[StoredDocument],
    chunks: Iterable[StoredChunk],
    *,
    dimension: int,
    dense: str,
    analyzer: Analyzer,
) -> dict[str, Any]:
    """Write documents and chunks as a new segment; its entry for the manifest."""
    # Strings have the order of their bytes.
    documents = sorted(documents, key=lambda d: d.doc_id)
    chunks = sorted(chunks, key=lambda c: str(c.chunk.id))
    number = {document.doc_id: i for i, document in enumerate(documents)}
    doc_of_row = [number[c.doc_id] for c in chunks]
    texts = ((text_to_index(c.chunk), documents[i].language) for c, i in zip(chunks, doc_of_row, strict=True))
    postings = _postings_of(texts, analyzer)
    columns, fields = build_columns(c.chunk.metadata for c in chunks)
    folder.mkdir(parents=True)
    zero = np.zeros(dimension, dtype=np.float32)
    _write_vectors(folder / VECTORS, (zero if c.vector is None else c.vector for c in chunks))
    return _finish(
        folder,
        documents,
        ids=[encode(str(c.chunk.id)) for c in chunks],
        chunk_lines=write_lines(folder / CHUNKS, (chunk_line(c.chunk) for c in chunks)),
        doc_of_row=np.asarray(doc_of_row, dtype=np.int32),
        postings=postings,
        no_vector=np.asarray([i for i, c in enumerate(chunks) if c.vector is None], dtype=np.int32),
        columns=columns,
        fields=fields,
        dimension=dimension,
        dense=dense,
    )


def _write_vectors(path: Path, vectors: Iterator[Array]) -> None:
    with path.open("wb") as out:
        while block := list(islice(vectors, _ROWS)):
            out.write(np.asarray(block, dtype=np.float32).data)


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
        ("ids", ids),
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
    arrays["document_lines"] = write_lines(folder / DOCUMENTS, (document.line() for document in documents))
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
    segments = [segment for segment, _, _ in parts]
    documents = [
        StoredDocument(
            segment.doc_ids[i],
            segment.doc_sources[i],
            segment.fingerprints[i],
            segment.languages[int(segment.doc_language[i])],
            partial(segment.documents.raw, i),
        )
        for segment, _, live in parts
        for i in np.flatnonzero(live).tolist()
    ]
    documents.sort(key=lambda d: d.doc_id)
    number = {document.doc_id: i for i, document in enumerate(documents)}
    order = sorted(
        (segment.ids.raw(row), p, row)
        for p, (segment, live, _) in enumerate(parts)
        for row in np.flatnonzero(live).tolist()
    )
    place = np.asarray([(p, row) for _, p, row in order], dtype=np.int64).reshape(-1, 2)
    moved = [np.full(segment.rows, -1, dtype=np.int64) for segment in segments]
    lengths, doc_of_row = np.empty((2, len(order)), dtype=np.int32)
    for p, segment in enumerate(segments):
        new = np.flatnonzero(place[:, 0] == p)
        rows = place[new, 1]
        moved[p][rows] = new
        lengths[new] = segment.lengths[rows]
        renumbered = np.asarray([number.get(doc_id, -1) for doc_id in segment.doc_ids.all()], dtype=np.int32)
        doc_of_row[new] = renumbered[segment.doc_of_row[rows]]
    lists = [(s.terms, s.indptr, s.posting_rows, s.counts, m) for s, m in zip(segments, moved, strict=True)]
    columns, fields = merge_columns([(s.columns, m) for s, m in zip(segments, moved, strict=True)])
    folder.mkdir(parents=True)
    _write_vectors(folder / VECTORS, (segments[p].vectors[row] for _, p, row in order))
    without = [m[segment.no_vector] for segment, m in zip(segments, moved, strict=True)]
    no_vector = np.sort(np.concatenate(without)) if without else np.empty(0, np.int64)
    return _finish(
        folder,
        documents,
        ids=[chunk_id for chunk_id, _, _ in order],
        chunk_lines=write_lines(folder / CHUNKS, (segments[p].chunks.raw(row) for _, p, row in order)),
        doc_of_row=doc_of_row,
        postings=merge_postings(lists, lengths),
        no_vector=no_vector[no_vector >= 0].astype(np.int32),
        columns=columns,
        fields=fields,
        dimension=dimension,
        dense=dense,
    )
