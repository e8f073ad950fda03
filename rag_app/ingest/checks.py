"""Does the index that was made answer? Both rankings are asked for chunks it holds."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import numpy as np

from rag_app.index import LocalIndex
from rag_app.index.local.records import text_to_index
from rag_app.types import Hit

_SAMPLE = 100
_SEED = 20090719
_DEPTH = 10
_WORD = re.compile(r"\S+")
_ROUNDING = 1e-3  # of scores that count as equal


def check_rankings(index: LocalIndex, *, sample: int = _SAMPLE) -> tuple[int, list[str]]:
    """Search for up to `sample` chunks drawn with a fixed seed: (how many, one sentence for each that was not found).

    BM25 is asked with the chunk's first words, dense with its own vector; a chunk counts as found when it is among the
    first ten, or they all score as high as it does.
    """
    ids = index.chunk_ids()
    chosen = sorted(random.Random(_SEED).sample(ids, min(sample, len(ids))))
    faults: list[str] = []
    documents = index.get(chosen)
    has_vectors = index.manifest["embedder"] is not None
    vectors = index.vectors(chosen) if has_vectors else np.empty((len(chosen), 0), dtype=np.float32)
    rankings = index.dense_by_vectors(vectors, k=_DEPTH) if has_vectors else [()] * len(chosen)
    for chunk, vector, nearest in zip(documents, vectors, rankings, strict=True):
        chunk_id = str(chunk.id)
        query = " ".join(_WORD.findall(text_to_index(chunk))[:12])
        hits = index.bm25(query, k=_DEPTH)
        own = index.bm25_score(query, [chunk_id]).get(chunk_id, 0.0)
        has_words = bool(index.settings.analyzer.query_terms(query, languages=["none"]))
        if has_words and not (index.bm25_terms(query, chunk_id) and _found(chunk_id, own, hits)):
            faults.append(f"test query: BM25 does not find chunk {chunk_id} by its own words")
        if vector.any() and not _found(chunk_id, 1.0, nearest):
            faults.append(f"test query: dense search does not find chunk {chunk_id} by its own vector")
    return len(documents), faults


def _found(chunk_id: str, score: float, hits: Sequence[Hit]) -> bool:
    """Whether the chunk is there, or had to stay behind ten that score as high."""
    if any(hit.chunk_id == chunk_id for hit in hits):
        return True
    return len(hits) == _DEPTH and hits[-1].score >= score - _ROUNDING * abs(score)


def measure_recall(index: LocalIndex, *, sample: int = _SAMPLE, k: int = _DEPTH) -> float | None:
    """The share of the k nearest chunks that the approximate search finds; None when the index searches exactly.

    Asked with the midpoints of up to `sample` pairs of chunk vectors drawn with a fixed seed: no chunk lies on them.
    """
    if index.settings.dense == "flat" or index.manifest["embedder"] is None or len(index) < 2:
        return None
    ids = index.chunk_ids()
    chosen = random.Random(_SEED).sample(ids, min(2 * sample, len(ids)) // 2 * 2)
    vectors = index.vectors(chosen)
    queries = vectors[::2] + vectors[1::2]
    found = [{hit.chunk_id for hit in hits} for hits in index.dense_by_vectors(queries, k=k)]
    true = [{hit.chunk_id for hit in hits} for hits in index.dense_by_vectors(queries, k=k, exact=True)]
    there = sum(map(len, true))
    return round(sum(len(a & b) for a, b in zip(found, true, strict=True)) / there, 4) if there else None


def check_index(index: LocalIndex) -> tuple[int, list[str], float | None]:
    """How many chunks were searched for, what was not found, and an approximate search's recall (kept in the notes)."""
    tested, faults = check_rankings(index)
    recall = measure_recall(index)
    if recall is not None and recall != index.notes.get("dense_recall"):
        index.set_notes({"dense_recall": recall})
        index.commit()
    return tested, faults, recall
