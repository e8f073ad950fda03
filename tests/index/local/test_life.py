"""The life of an index: what goes in, commits, locks, merges, rebuilds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.index import IndexSettings, LocalIndex
from rag_app.types import ConfigError, EmbeddingError, IndexLockedError, IndexMissingError

Pair = Callable[..., Any]

EMBEDDER = HashingEmbedder(dimensions=16)


def test_what_goes_in_comes_out_after_reopening(filled: Path, pair: Pair) -> None:
    index = LocalIndex.open(filled)
    document, chunks = pair("3.txt", ["the pump number 3", "a filter 3"], n=3)
    assert len(index) == 10
    assert index.document(str(document.id)) == document
    assert index.get([str(c.id) for c in chunks]) == chunks
    assert index.get(["unknown", str(chunks[1].id)]) == [chunks[1]]
    assert index.sources()["3.txt"] == document.id
    assert index.embedder == EMBEDDER
    assert index.fields()["n"] == "number"
    assert index.verify() == []


def test_opening_an_index_imports_neither_langchain_nor_pydantic(filled: Path) -> None:
    program = (
        "import sys\n"
        "from rag_app.index import LocalIndex\n"
        f"index = LocalIndex.open({str(filled)!r})\n"
        "assert len(index) == 10 and not index.refresh() and index.sources() and index.verify() == []\n"
        "print([name for name in ('langchain_core', 'pydantic', 'filelock', 'faiss') if name in sys.modules])\n"
        "print([hit.rank for hit in index.bm25('pump', k=2)])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[1, 2]"]


def test_a_changed_document_replaces_the_old_one_in_both_rankings(filled: Path, pair: Pair) -> None:
    with LocalIndex.open(filled) as index:
        old = index.sources()["3.txt"]
        index.upsert(*pair("3.txt", ["something else entirely"], n=3))
    assert len(index) == 9
    assert index.sources()["3.txt"] != old
    assert all(not hit.chunk_id.startswith(old) for hit in (*index.bm25("pump 3", k=20), *index.dense("pump 3", k=20)))
    with pytest.raises(KeyError):
        index.document(old)


def test_delete_by_source_by_id_and_by_filter_takes_out_chunks_and_empty_documents(filled: Path) -> None:
    with LocalIndex.open(filled) as index:
        first = index.chunks_of(index.sources()["1.txt"])
        assert index.delete(sources=["0.txt", "unknown"]) == 2
        assert index.delete(ids=[str(first[0].id)]) == 1
        assert index.delete(ids=[index.sources()["2.txt"]]) == 2
        assert index.delete(filter={"n": {"$gte": 4}}) == 2
    assert len(index) == 3
    assert sorted(index.sources()) == ["1.txt", "3.txt"]
    assert len(index.document(str(first[0].metadata["doc_id"])).page_content) > 0
    with pytest.raises(ConfigError, match="expected a list"):
        index.delete(sources="0.txt")


def test_an_exception_leaves_the_last_commit(filled: Path, pair: Pair) -> None:
    def fail() -> None:
        with LocalIndex.open(filled) as index:
            index.upsert(*pair("new.txt", ["new"]))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert len(LocalIndex.open(filled)) == 10
    with LocalIndex.open(filled) as index:  # and the lock is free
        index.upsert(*pair("new.txt", ["new"]))
    assert len(LocalIndex.open(filled)) == 11


def test_a_reader_sees_a_commit_when_it_refreshes(filled: Path, pair: Pair) -> None:
    reader = LocalIndex.open(filled)
    with LocalIndex.open(filled) as writer:
        writer.upsert(*pair("new.txt", ["a turbine"]))
        assert reader.bm25("turbine", k=1) == ()
    assert reader.bm25("turbine", k=1) == ()
    assert reader.refresh()
    assert len(reader.bm25("turbine", k=1)) == 1
    assert not reader.refresh()


def test_a_second_writer_waits_and_is_told(filled: Path, pair: Pair) -> None:
    first = LocalIndex.open(filled)
    first.upsert(*pair("new.txt", ["new"]))
    second = LocalIndex.open(filled, settings=IndexSettings(lock_timeout=0.1))
    with pytest.raises(IndexLockedError, match="another writer holds the index"):
        second.upsert(*pair("other.txt", ["other"]))
    first.commit()
    with second:
        second.upsert(*pair("other.txt", ["other"]))
    assert len(LocalIndex.open(filled)) == 12  # neither lost the other's


def test_segments_stay_few_and_a_merge_changes_no_result(tmp_path: Path, pair: Pair) -> None:
    index = LocalIndex.create(tmp_path / "index", embedder=EMBEDDER, settings=IndexSettings(segments_per_tier=3))
    for i in range(20):
        index.upsert(*pair(f"{i}.txt", [f"pump {i}", "filter"]))
        index.commit()
    assert len(index.manifest["segments"]) < 6
    before = index.bm25("pump filter 7", k=40), index.dense("pump filter 7", k=40)
    index.merge()
    assert len(index.manifest["segments"]) == 1
    assert (index.bm25("pump filter 7", k=40), index.dense("pump filter 7", k=40)) == before
    assert len(list((tmp_path / "index" / "segments").iterdir())) == 1


def test_there_is_no_index_to_open_and_none_to_overwrite(filled: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match="there is no index"):
        LocalIndex.open(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="--rebuild"):
        LocalIndex.create(filled, embedder=EMBEDDER)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    with pytest.raises(ConfigError, match="not empty"):
        LocalIndex.create(tmp_path / "photos", embedder=EMBEDDER)


def test_a_rebuild_keeps_the_old_index_until_its_first_commit(filled: Path, pair: Pair) -> None:
    new = LocalIndex.create(filled, embedder=HashingEmbedder(dimensions=8), overwrite=True)
    new.upsert(*pair("0.txt", ["only this"]))
    assert len(LocalIndex.open(filled)) == 10
    new.commit()
    assert len(LocalIndex.open(filled, embedder=HashingEmbedder(dimensions=8))) == 1


def test_notes_and_splitter_are_kept_in_the_manifest(filled: Path) -> None:
    with LocalIndex.open(filled) as index:
        index.set_notes({"self_retrieval": 0.9})
        index.set_splitter({"kind": "recursive"})
    reopened = LocalIndex.open(filled)
    assert reopened.notes == {"self_retrieval": 0.9}
    assert reopened.manifest["splitter"] == {"kind": "recursive"}


def test_chunks_that_are_not_what_they_say_are_refused(filled: Path, pair: Pair) -> None:
    document, chunks = pair("x.txt", ["one", "two"])
    with LocalIndex.open(filled) as index:
        with pytest.raises(ConfigError, match="is not characters 0 to 3"):
            index.upsert(document, [chunks[0].model_copy(update={"page_content": "ONE"})])
        with pytest.raises(ConfigError, match="there twice"):
            index.upsert(document, [chunks[0], chunks[0]])


@pytest.mark.parametrize(
    ("vector", "fault"),
    [
        ([float("nan")] * 16, "holds NaN"),
        ([float("inf")] * 16, "holds NaN or infinity"),
        ([1.0] * 7, "dimension 7, expected 16"),
        ([0.0] * 16, r"length 0\.0000"),
        ("text", "no number"),
    ],
)
def test_a_given_vector_that_cannot_be_compared_is_refused_by_its_chunk(
    vector: Any, fault: str, filled: Path, pair: Pair
) -> None:
    document, chunks = pair("new.txt", ["the pump", "a filter"])
    with LocalIndex.open(filled, embedder=EMBEDDER) as index:
        good = EMBEDDER.encode(["the pump"])[0]
        with pytest.raises(EmbeddingError, match=rf"{chunks[1].id}: .*{fault}"):
            index.upsert(document, chunks, vectors={chunks[0].id: good, chunks[1].id: vector})
    assert len(LocalIndex.open(filled)) == 10


def test_given_vectors_are_scaled_to_length_1(filled: Path, pair: Pair) -> None:
    document, chunks = pair("new.txt", ["the pump", "a filter"])
    with LocalIndex.open(filled, embedder=EMBEDDER) as index:
        row = EMBEDDER.encode(["cat"])[0]
        index.upsert(document, chunks, vectors={chunks[0].id: 7 * row, chunks[1].id: None})
        index.commit()
        assert index.dense("cat", k=1)[0].score == pytest.approx(1.0)
        assert chunks[1].id not in {hit.chunk_id for hit in index.dense("a filter", k=99)}
