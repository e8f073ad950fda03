"""A segment: chunks and their documents in files that never change. Rows stand in order of chunk id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rag_app.errors import IndexDamagedError
from rag_app.index.local.columns import Columns
from rag_app.index.local.container import Array, Lines, Strings, array_of, arrays_of, encode
from rag_app.index.local.mapped import CHUNKS, DOCUMENTS, SegmentFiles
from rag_app.index.local.neighbors import FILES, Neighbors


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
