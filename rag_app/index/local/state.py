"""The live rows of an index: segments with their tombstones, and looking things up in them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag_app.filters import Filter, parse_filter
from rag_app.index.base import FilterLike
from rag_app.index.local.container import Array, arrays_of
from rag_app.index.local.identity import BuiltWith
from rag_app.index.local.kept import Kept
from rag_app.index.local.mapped import SegmentFiles
from rag_app.index.local.records import read_chunk, read_document
from rag_app.index.local.segment import Segment

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.index.settings import IndexSettings
    from rag_app.types import LoadedDocument

_MASK_BYTES = 16 << 20


class LiveSegment:
    """A segment with its tombstones: `live` is None when every row is live."""

    def __init__(self, segment: Segment, dead_rows: Array | None = None, dead_documents: Array | None = None) -> None:
        self.segment = segment
        self.live: Array | None = None
        self.live_documents = np.ones(len(segment.doc_ids), dtype=bool)
        if dead_rows is not None and len(dead_rows):
            self.live = np.ones(segment.rows, dtype=bool)
            self.live[dead_rows] = False
        if dead_documents is not None:
            self.live_documents[dead_documents] = False
        lengths = segment.lengths if self.live is None else segment.lengths[self.live]
        self.count = len(lengths)
        self.total_length = int(lengths.sum(dtype=np.int64))

    def is_live(self, row: int) -> bool:
        """Whether the row has no tombstone."""
        return self.live is None or bool(self.live[row])

    def rows(self) -> Array:
        """The live rows."""
        return np.arange(self.segment.rows) if self.live is None else np.flatnonzero(self.live)


def live_segment(files: SegmentFiles, dimension: int) -> LiveSegment:
    """A segment with the tombstones that its files name."""
    segment = Segment(files.folder, dimension, files)
    if files.deleted is None:
        return LiveSegment(segment)
    dead = arrays_of(files.deleted)
    return LiveSegment(segment, dead["rows"], dead["documents"])


class State:
    """Committed segments with their statistics and documents; it never changes, so any number of threads may ask it."""

    def __init__(self, segments: Sequence[LiveSegment], built_with: BuiltWith, dimension: int) -> None:
        self.segments = tuple(segments)
        self._built_with = built_with
        self.dimension = dimension
        self.count = sum(part.count for part in self.segments)
        self.average = sum(part.total_length for part in self.segments) / self.count if self.count else 0.0
        # Rows are numbered through all segments: those of segment i begin at offsets[i].
        *self.offsets, self.rows = itertools.accumulate((part.segment.rows for part in self.segments), initial=0)
        self._masks: Kept[list[Array]] = Kept(_MASK_BYTES)
        languages: Counter[str] = Counter()
        for part in self.segments:
            codes = part.segment.doc_language[part.live_documents]
            for code, number in enumerate(np.bincount(codes, minlength=len(part.segment.languages)).tolist()):
                languages[part.segment.languages[code]] += number
        self.languages = [name for name, n in sorted(languages.items(), key=lambda p: (-p[1], p[0])) if n]

    @property
    def settings(self) -> IndexSettings:
        """Analyzer, formula and limits in effect."""
        return self._built_with.settings

    def masks(self, filter: FilterLike) -> list[Array | None]:
        """For each segment which rows may be returned; None when all may."""
        if filter is None or (isinstance(filter, Mapping) and not filter):
            return [part.live for part in self.segments]
        parsed = parse_filter(filter)
        key = repr(parsed)
        found = self._masks.get(key)
        if found is None:
            found = self._masks.put(key, [self._mask(part, parsed) for part in self.segments], self.rows)
        return list(found)

    def mask(self, filter: FilterLike) -> Array | None:
        """Of all rows, which pass the filter and are live; None when there is no filter (dead rows are not told)."""
        if filter is None or (isinstance(filter, Mapping) and not filter):
            return None
        masks = [mask for mask in self.masks(filter) if mask is not None]
        return masks[0] if len(masks) == 1 else np.concatenate(masks or [np.empty(0, dtype=bool)])

    @staticmethod
    def _mask(part: LiveSegment, parsed: Filter) -> Array:
        mask = part.segment.columns.mask(parsed)
        return mask if part.live is None else mask & part.live

    def find(self, chunk_id: str) -> tuple[int, int] | None:
        """(segment, row) of a live chunk."""
        for i, part in enumerate(self.segments):
            row = part.segment.ids.find(chunk_id)
            if row is not None and part.is_live(row):
                return i, row
        return None

    def _by_segment(self, chunk_ids: Sequence[str]) -> Iterator[tuple[int, Array, list[str]]]:
        places: dict[int, list[tuple[int, str]]] = {}
        for chunk_id in dict.fromkeys(chunk_ids):
            place = self.find(chunk_id)
            if place is not None:
                places.setdefault(place[0], []).append((place[1], chunk_id))
        for i, rows in places.items():
            yield i, np.asarray([row for row, _ in rows], dtype=np.int64), [chunk_id for _, chunk_id in rows]

    def get(self, ids: Sequence[str]) -> list[Document]:
        """The chunks that are there, in the order of `ids`."""
        result = []
        for chunk_id in ids:
            place = self.find(chunk_id)
            if place is not None:
                result.append(read_chunk(chunk_id, self.segments[place[0]].segment.chunks[place[1]]))
        return result

    def find_document(self, doc_id: str) -> tuple[int, int] | None:
        """(segment, number) of a live document."""
        for i, part in enumerate(self.segments):
            number = part.segment.doc_ids.find(doc_id)
            if number is not None and part.live_documents[number]:
                return i, number
        return None

    def document(self, doc_id: str) -> LoadedDocument:
        """The document; KeyError when it is not there."""
        place = self.find_document(doc_id)
        if place is None:
            raise KeyError(doc_id)
        return read_document(doc_id, self.segments[place[0]].segment.documents[place[1]])

    def chunks_of(self, doc_id: str) -> list[Document]:
        """The live chunks of a document, in order of their place."""
        place = self.find_document(doc_id)
        if place is None:
            return []
        part = self.segments[place[0]]
        rows = [row for row in part.segment.rows_of_document(place[1]).tolist() if part.is_live(row)]
        chunks = [read_chunk(part.segment.ids[row], part.segment.chunks[row]) for row in rows]
        return sorted(chunks, key=lambda c: (c.metadata.get("start_index") or 0, str(c.id)))

    def documents(self) -> list[tuple[str, str, str]]:
        """(doc_id, source, fingerprint) of every live document, in order of source and id."""
        result = []
        for part in self.segments:
            segment = part.segment
            table = zip(segment.doc_ids.all(), segment.doc_sources.all(), segment.fingerprints.all(), strict=True)
            result += [row for row, live in zip(table, part.live_documents.tolist(), strict=True) if live]
        return sorted(result, key=lambda row: (row[1], row[0]))

    def chunk_ids(self) -> list[str]:
        """All live chunks, in order of id."""
        result: list[str] = []
        for part in self.segments:
            ids = part.segment.ids.all()
            result += ids if part.live is None else [ids[row] for row in part.rows().tolist()]
        return sorted(result)

    def vectors(self, ids: Sequence[str]) -> Array:
        """(n, d) vectors in the order of `ids`; KeyError for an unknown one."""
        result = np.empty((len(ids), self.dimension), dtype=np.float32)
        for n, chunk_id in enumerate(ids):
            place = self.find(chunk_id)
            if place is None:
                raise KeyError(chunk_id)
            result[n] = self.segments[place[0]].segment.vectors[place[1]]
        return result

    def fields(self) -> dict[str, str]:
        """Each metadata field with the kinds of its values, such as "number" or "null or string"."""
        kinds: dict[str, set[str]] = {}
        for part in self.segments:
            for description in part.segment.descriptions:
                kinds.setdefault(description["name"], set()).update(description["kinds"])
        return {name: " or ".join(sorted(found)) for name, found in sorted(kinds.items())}
