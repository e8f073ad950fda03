"""hnsw and int8: they propose rows, the vectors decide; filters, deletes and merges stay exact or complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.embed.base import unit_rows
from rag_app.index import IndexSettings, LocalIndex
from rag_app.index.local.kept import Kept
from rag_app.index.local.neighbors import SMALLEST
from rag_app.ingest import measure_recall
from rag_app.types import IndexDamagedError, LoadedDocument

COUNT, DIMENSION = SMALLEST + 500, 16
CHANCE = np.random.default_rng(7)
CENTERS = CHANCE.standard_normal((30, DIMENSION))
VECTORS = unit_rows(CENTERS[CHANCE.integers(0, 30, COUNT)] + 0.5 * CHANCE.standard_normal((COUNT, DIMENSION)))
QUERIES = unit_rows(CENTERS[:20] + 0.5 * CHANCE.standard_normal((20, DIMENSION)))


def build(path: Path, dense: Any, vectors: Any = VECTORS) -> LocalIndex:
    settings = IndexSettings(dense=dense, embedding_cache=False)
    with LocalIndex.create(path, embedder=HashingEmbedder(dimensions=DIMENSION), settings=settings) as index:
        document = LoadedDocument(id="d", page_content="pump")
        ids = [f"{i:05d}" for i in range(len(vectors))]
        chunks = [Document(id=ids[i], page_content="pump", metadata={"bucket": i % 100}) for i in range(len(ids))]
        index.upsert(document, chunks, vectors=dict(zip(ids, vectors, strict=True)))
    return index


@pytest.fixture(scope="module", params=["hnsw", "int8"])
def index(request: Any, tmp_path_factory: pytest.TempPathFactory) -> LocalIndex:
    return build(tmp_path_factory.mktemp("index") / "i", request.param)


def test_nearly_all_true_neighbors_are_found_with_their_exact_scores(index: LocalIndex) -> None:
    assert len(index.manifest["segments"][0]["files"]) == 5
    found, true = index.dense_by_vectors(QUERIES, k=10), index.dense_by_vectors(QUERIES, k=10, exact=True)
    shared = 0
    for own, best in zip(found, true, strict=True):
        scores = {hit.chunk_id: hit.score for hit in best}
        shared += sum(hit.score == scores.get(hit.chunk_id) for hit in own)
        assert [hit.rank for hit in own] == list(range(1, 11))
    assert shared >= 0.95 * 200
    recall = measure_recall(index)
    assert recall is not None
    assert 0.95 <= recall <= 1


@pytest.mark.parametrize("below", [1, 10, 29, 31, 60, 100])
@pytest.mark.parametrize("k", [1, 10, 400, 5000])
def test_a_filter_leaves_as_many_as_there_are(index: LocalIndex, below: int, k: int) -> None:
    matching = sum(i % 100 < below for i in range(COUNT))
    hits = index.dense_by_vectors(QUERIES[:1], k=k, filters={"bucket": {"$lt": below}})[0]
    assert len(hits) == min(k, matching)
    assert all(int(hit.chunk_id) % 100 < below for hit in hits)


def test_another_setting_searches_the_same_index_exactly(index: LocalIndex) -> None:
    flat = LocalIndex.open(index.path, settings=IndexSettings(dense="flat"))
    assert flat.dense_by_vectors(QUERIES, k=5) == index.dense_by_vectors(QUERIES, k=5, exact=True)
    assert measure_recall(flat) is None


@pytest.mark.parametrize("dense", ["hnsw", "int8"])
def test_deleted_rows_are_not_proposed_and_a_merge_builds_anew(dense: str, tmp_path: Path) -> None:
    index = build(tmp_path / "i", dense)
    reader = LocalIndex.open(tmp_path / "i")
    best = index.dense_by_vectors(QUERIES, k=5)
    gone = {hits[0].chunk_id for hits in best}
    index.delete(ids=gone)
    index.commit()
    after = index.dense_by_vectors(QUERIES, k=5)
    assert not gone & {hit.chunk_id for hits in after for hit in hits}
    before = index.dense_by_vectors(QUERIES, k=5, exact=True)
    index.merge()
    assert index.verify() == []
    assert index.dense_by_vectors(QUERIES, k=5, exact=True) == before
    # Who opened before the merge has lost the structure's file and scans instead.
    assert [len(hits) for hits in reader.dense_by_vectors(QUERIES, k=5)] == [5] * len(QUERIES)


def test_a_changed_byte_in_the_structure_is_found_by_its_checksum(tmp_path: Path) -> None:
    index = build(tmp_path / "i", "int8")
    file = next(tmp_path.glob("i/segments/*/int8.faiss"))
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)
    assert "int8.faiss" in index.verify()[0]
    with pytest.raises(IndexDamagedError, match=r"int8\.faiss"):
        LocalIndex.open(tmp_path / "i")


def test_few_rows_get_no_structure(tmp_path: Path) -> None:
    index = build(tmp_path / "i", "hnsw", VECTORS[: SMALLEST - 1])
    assert len(index.manifest["segments"][0]["files"]) == 4
    assert measure_recall(index) == 1.0


def test_what_is_kept_stays_within_its_room_and_the_latest_stays() -> None:
    kept: Kept[int] = Kept(100)
    for i in range(10):
        kept.put(str(i), i, 30)
        kept.get("0")
    assert kept.get("0") == 0
    assert [kept.get(str(i)) for i in range(1, 10)] == [None] * 7 + [8, 9]
    assert kept.put("large", 5, 101) == 5
    assert kept.get("large") is None
