"""One committed state of the index: segments with their tombstones, and the two rankings over the live rows.

Statistics are summed over live rows, and final scores are computed in double precision row by row, so results are those
of a fresh build however the rows fell into segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from langchain_core.documents import Document

from rag_app.filters import Filter, parse_filter
from rag_app.index.base import FilterLike
from rag_app.index.local.container import Array, encode
from rag_app.index.local.ranking import (
    best_of,
    candidates,
    cosines,
    counts_at,
    idf,
    okapi_floor,
    term_weights,
    top,
)
from rag_app.index.local.records import read_chunk, read_document
from rag_app.index.local.segment import Segment
from rag_app.index.settings import IndexSettings
from rag_app.types import Hit, LoadedDocument

# Single precision sums differ from double ones by less than this share of the largest score.
_SLACK = 1e-5
_GATHER_BELOW = 0.15
_MASKS_KEPT = 16


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
        self.norm: Array = np.empty(0, dtype=np.float32)

    def is_live(self, row: int) -> bool:
        """Whether the row has no tombstone."""
        return self.live is None or bool(self.live[row])

    def rows(self) -> Array:
        """The live rows."""
        return np.arange(self.segment.rows) if self.live is None else np.flatnonzero(self.live)

    def df(self, posting: tuple[Array, Array] | None) -> int:
        """Live rows that have the term."""
        if posting is None:
            return 0
        return len(posting[0]) if self.live is None else int(np.count_nonzero(self.live[posting[0]]))


class Snapshot:
    """What a reader sees; it never changes, so any number of threads may ask it."""

    def __init__(self, segments: Sequence[LiveSegment], settings: IndexSettings, dimension: int) -> None:
        self.segments = tuple(segments)
        self.settings = settings
        self.dimension = dimension
        self.count = sum(part.count for part in self.segments)
        self.average = sum(part.total_length for part in self.segments) / self.count if self.count else 0.0
        self._masks: dict[str, list[Array]] = {}
        self._floor: float | None = None
        bm25 = settings.bm25
        for part in self.segments:
            relative = part.segment.lengths / np.float32(self.average or 1.0)
            part.norm = np.asarray(bm25.k1 * (1 - bm25.b + bm25.b * relative), dtype=np.float32)
        languages: Counter[str] = Counter()
        for part in self.segments:
            codes = part.segment.doc_language[part.live_documents]
            for code, number in enumerate(np.bincount(codes, minlength=len(part.segment.languages)).tolist()):
                languages[part.segment.languages[code]] += number
        self.languages = [name for name, n in sorted(languages.items(), key=lambda p: (-p[1], p[0])) if n]

    # ------------------------------------------------------------------------------------------------------- filters

    def masks(self, filter: FilterLike) -> list[Array | None]:
        """For each segment which rows may be returned; None when all may."""
        if filter is None or (isinstance(filter, Mapping) and not filter):
            return [part.live for part in self.segments]
        parsed = parse_filter(filter)
        key = repr(parsed)
        found = self._masks.get(key)
        if found is None:
            found = self._masks[key] = [self._mask(part, parsed) for part in self.segments]
            while len(self._masks) > _MASKS_KEPT:
                self._masks.pop(next(iter(self._masks)), None)
        return list(found)

    @staticmethod
    def _mask(part: LiveSegment, parsed: Filter) -> Array:
        mask = part.segment.columns.mask(parsed)
        return mask if part.live is None else mask & part.live

    # ---------------------------------------------------------------------------------------------------------- bm25

    def query_terms(self, query: str) -> dict[str, int]:
        """The terms of the query, with how often it has them."""
        return self.settings.analyzer.query_terms(query, languages=self.languages)

    def _weighted(self, query: str) -> list[tuple[str, float, list[tuple[Array, Array] | None]]]:
        """(term, its weight in the query, its postings in each segment) for each term that a live chunk has."""
        found = []
        for term, times in self.query_terms(query).items():
            postings = [part.segment.postings(encode(term)) for part in self.segments]
            df = sum(part.df(posting) for part, posting in zip(self.segments, postings, strict=True))
            if df:
                found.append((term, times * self._idf(df), postings))
        return found

    def _idf(self, df: int) -> float:
        weight = idf(self.settings.bm25, n=self.count, df=df)
        if self.settings.bm25.variant == "okapi" and weight < 0:
            if self._floor is None:
                self._floor = okapi_floor(self.settings.bm25, n=self.count, dfs=self._all_dfs())
            return self._floor
        return weight

    def _all_dfs(self) -> Array:
        dfs: Counter[bytes] = Counter()
        for part in self.segments:
            segment = part.segment
            live = np.ones(segment.rows, dtype=np.int64) if part.live is None else part.live.astype(np.int64)
            sums = np.concatenate([[0], np.cumsum(live[segment.posting_rows])])
            counts = sums[segment.indptr[1:]] - sums[segment.indptr[:-1]]
            for i, count in enumerate(counts.tolist()):
                dfs[segment.terms.raw(i)] += count
        return np.asarray([count for count in dfs.values() if count], dtype=np.float64)

    def bm25(self, query: str, *, k: int, filter: FilterLike = None) -> tuple[Hit, ...]:
        """Chunks that share a term with the query and pass the filter, best first."""
        masks = self.masks(filter)
        weighted = self._weighted(query)
        if not weighted or k < 1:
            return ()
        parts = []
        for i, part in enumerate(self.segments):
            postings = [(weight, posting[i]) for _, weight, posting in weighted]
            rows = self._bm25_rows(part, postings, masks[i], k)
            best = top(rows, self._exact(part, postings, rows), k)
            parts.append([(part.segment.ids[row], score) for row, score in best])
        return _hits(best_of(parts, k))

    def _bm25_rows(
        self,
        part: LiveSegment,
        postings: Sequence[tuple[float, tuple[Array, Array] | None]],
        mask: Array | None,
        k: int,
    ) -> Array:
        """Rows that have a term, pass, and may be among the k best."""
        lists = [(weight, posting) for weight, posting in postings if posting is not None]
        if not lists:
            return np.empty(0, dtype=np.int64)
        if self.settings.bm25.variant != "lucene":
            rows = np.unique(np.concatenate([posting[0] for _, posting in lists])).astype(np.int64)
            return rows if mask is None else rows[mask[rows]]
        scores = np.zeros(part.segment.rows, dtype=np.float32)
        scale = np.float32(self.settings.bm25.k1 + 1)
        for weight, (rows, counts) in lists:
            tf = counts.astype(np.float32)
            scores[rows] += (np.float32(weight) * scale) * tf / (tf + part.norm[rows])
        if mask is not None:
            scores *= mask
        # Rows without a term have 0; a lucene weight is never 0 or less.
        np.putmask(scores, scores <= 0, -np.inf)
        return candidates(scores, k, slack=_SLACK * float(scores.max(initial=0.0)))

    def _exact(
        self, part: LiveSegment, postings: Sequence[tuple[float, tuple[Array, Array] | None]], rows: Array
    ) -> Any:
        scores = np.zeros(len(rows), dtype=np.float64)
        for weight, posting in postings:
            scores += self._contribution(part, weight, posting, rows)
        return scores

    def _contribution(self, part: LiveSegment, weight: float, posting: tuple[Array, Array] | None, rows: Array) -> Any:
        if posting is None:
            return np.zeros(len(rows), dtype=np.float64)
        counts = counts_at(posting, rows)
        lengths = np.maximum(part.segment.lengths[rows], 1)
        weights = term_weights(self.settings.bm25, counts=counts, lengths=lengths, average=self.average)
        return np.where(counts > 0, weight * weights, 0.0)

    def bm25_terms(self, query: str, chunk_id: str) -> dict[str, float]:
        """Each matched term's part of the score."""
        place = self.find(chunk_id)
        if place is None:
            return {}
        i, row = place
        rows = np.asarray([row])
        result: dict[str, float] = {}
        for term, weight, postings in self._weighted(query):
            posting = postings[i]
            if posting is not None and counts_at(posting, rows)[0]:
                result[term] = float(self._contribution(self.segments[i], weight, posting, rows)[0])
        return result

    def bm25_score(self, query: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The score of each chunk that is there; 0 where no term matches."""
        weighted = self._weighted(query)
        result: dict[str, float] = {}
        for i, rows, ids in self._by_segment(chunk_ids):
            scores = self._exact(self.segments[i], [(weight, posting[i]) for _, weight, posting in weighted], rows)
            result.update(zip(ids, scores.tolist(), strict=True))
        return {chunk_id: result[chunk_id] for chunk_id in chunk_ids if chunk_id in result}

    # --------------------------------------------------------------------------------------------------------- dense

    def dense(self, queries: Array, *, k: int, filters: Sequence[FilterLike]) -> list[tuple[Hit, ...]]:
        """For each row of `queries` (unit length) the chunks by cosine; a zero row finds nothing."""
        if k < 1 or not len(queries):
            return [() for _ in queries]
        masks = [self.masks(filter) for filter in filters]
        found: list[list[list[tuple[str, float]]]] = [[] for _ in queries]
        for i, part in enumerate(self.segments):
            for q, best in enumerate(self._dense_part(part, queries, [mask[i] for mask in masks], k)):
                found[q].append([(part.segment.ids[row], score) for row, score in best])
        return [_hits(best_of(parts, k)) for parts in found]

    def _dense_part(
        self, part: LiveSegment, queries: Array, masks: Sequence[Array | None], k: int
    ) -> Iterator[list[tuple[int, float]]]:
        vectors, n = part.segment.vectors, part.segment.rows
        block = max(1, (1 << 24) // max(n, 1))
        for start in range(0, len(queries), block):
            batch = queries[start : start + block]
            few = [m is not None and int(np.count_nonzero(m)) < _GATHER_BELOW * n for m in masks[start : start + block]]
            products = None if all(few) else batch @ vectors.T if len(batch) > 1 else (vectors @ batch[0])[None]
            for q, query in enumerate(batch):
                mask = self._with_vectors(part, masks[start + q])
                if not query.any():
                    yield []
                    continue
                if few[q] and mask is not None:
                    rows = np.flatnonzero(mask)
                    rows = rows[candidates(vectors[rows] @ query, k, slack=_SLACK)]
                else:
                    assert products is not None
                    scores = products[q] if mask is None else np.where(mask, products[q], np.float32(-np.inf))
                    rows = candidates(scores, k, slack=_SLACK)
                yield top(rows, cosines(vectors[rows], query), k)

    @staticmethod
    def _with_vectors(part: LiveSegment, mask: Array | None) -> Array | None:
        if not len(part.segment.no_vector):
            return mask
        result = np.ones(part.segment.rows, dtype=bool) if mask is None else mask.copy()
        result[part.segment.no_vector] = False
        return result

    def dense_score(self, query: Array, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The cosine of each chunk that is there."""
        result: dict[str, float] = {}
        for i, rows, ids in self._by_segment(chunk_ids):
            scores = cosines(self.segments[i].segment.vectors[rows], query)
            result.update(zip(ids, scores.tolist(), strict=True))
        return {chunk_id: result[chunk_id] for chunk_id in chunk_ids if chunk_id in result}

    # ------------------------------------------------------------------------------------------------------- looking up

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


def _hits(pairs: Sequence[tuple[str, float]]) -> tuple[Hit, ...]:
    return tuple(Hit(chunk_id, float(score), rank) for rank, (chunk_id, score) in enumerate(pairs, start=1))
