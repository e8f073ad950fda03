"""The life of an index: commits, locks, crashes, damage, mismatches."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.index import IndexSettings, LocalIndex
from rag_app.index.local.identity import CANARIES
from rag_app.index.local.manifest import read_manifest, write_manifest
from rag_app.index.reembed import reembed_index
from rag_app.text import Analyzer
from rag_app.types import (
    ConfigError,
    EmbeddingError,
    IndexDamagedError,
    IndexLockedError,
    IndexMismatchError,
    IndexMissingError,
)

Pair = Callable[..., Any]
EMBEDDER = HashingEmbedder(dimensions=16)


@pytest.fixture
def filled(tmp_path: Path, pair: Pair) -> Path:
    with LocalIndex.create(tmp_path / "index", embedder=EMBEDDER) as index:
        for i in range(5):
            index.upsert(*pair(f"{i}.txt", [f"the pump number {i}", f"a filter {i}"], n=i))
    return tmp_path / "index"


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


def test_settings_of_another_version_are_named_when_they_are_first_needed(filled: Path) -> None:
    manifest = read_manifest(filled)
    manifest["settings"] = {**manifest["settings"], "quantum": True}
    write_manifest(filled, manifest)
    index = LocalIndex.open(filled)
    with pytest.raises(IndexMismatchError, match=r"quantum.*rebuild"):
        index.bm25("pump", k=1)


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


def test_another_embedder_or_analyzer_is_named_with_both_values_and_the_way_out(filled: Path) -> None:
    with pytest.raises(IndexMismatchError, match=r"hashing-16.*hashing-64.*--reembed.*--rebuild.*set `embed` back"):
        LocalIndex.open(filled, embedder=HashingEmbedder(dimensions=64))
    with pytest.raises(IndexMismatchError, match=r"analyzer.*: language 'auto' against 'german'; .*--rebuild"):
        LocalIndex.open(filled, settings=IndexSettings(analyzer=Analyzer(language="german")))


class Renamed(HashingEmbedder):
    """Another model of the same dimension."""

    @property
    def name(self) -> str:
        return "other"


class Changed(HashingEmbedder):
    """The same name, other weights."""

    def _encode(self, texts: Any, *, query: bool) -> Any:
        return -1 * super()._encode([text + " x y z" for text in texts], query=query)  # type: ignore[operator]


class Broken(HashingEmbedder):
    """The same name; what it gives is no vector."""

    def _encode(self, texts: Any, *, query: bool) -> Any:
        return float("nan") * super()._encode(texts, query=query)  # type: ignore[operator]


def test_a_model_that_gives_no_numbers_any_more_is_noticed(filled: Path) -> None:
    with pytest.raises(IndexMismatchError, match="has changed since the index was built"):
        LocalIndex.open(filled, embedder=Broken(dimensions=16)).dense("pump", k=1)


def test_changed_weights_under_an_old_name_are_noticed_by_the_canaries(filled: Path) -> None:
    index = LocalIndex.open(filled, embedder=Changed(dimensions=16))
    assert index.bm25("pump", k=1)
    with pytest.raises(IndexMismatchError, match="has changed since the index was built"):
        index.dense("pump", k=1)
    assert len(index.manifest["canaries"]) == len(CANARIES)


def test_a_cut_or_changed_file_is_named(filled: Path) -> None:
    files = sorted(path for path in (filled / "segments").rglob("*") if path.is_file())
    for path in [*files, filled / "manifest.json"]:
        good = path.read_bytes()
        for bad in (good[:-1], good[: len(good) // 2], b"", good[:40] + bytes([good[40] ^ 1]) + good[41:]):
            path.write_bytes(bad)
            with pytest.raises(IndexDamagedError, match=path.name):
                LocalIndex.open(filled)
        path.unlink()
        with pytest.raises((IndexDamagedError, IndexMissingError)):
            LocalIndex.open(filled)
        path.write_bytes(good)
    assert len(LocalIndex.open(filled)) == 10


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, on numbers that are none
@pytest.mark.parametrize("kind", ["arrays.bin", "chunks.jsonl", "documents.jsonl", "vectors.f32", "deleted-2.bin"])
def test_any_use_of_a_changed_file_names_it_or_works(kind: str, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an index that is too large to be checked when it is opened."""
    from rag_app.index.local import doors

    monkeypatch.setattr(doors, "_VERIFY_BELOW", 0)
    with LocalIndex.open(filled, embedder=EMBEDDER) as index:
        index.delete(sources=["0.txt"])
    (file,) = filled.glob(f"segments/*/{kind.replace('2', '*')}")
    good, random_ = file.read_bytes(), random.Random(7)
    ids = LocalIndex.open(filled).chunk_ids()
    doc_id = LocalIndex.open(filled).documents()[0][0]
    for _ in range(40):
        raw = bytearray(good)
        for _ in range(random_.choice([1, 3, 30])):
            raw[random_.randrange(len(raw))] = random_.randrange(256)
        file.write_bytes(raw)
        for use in (
            lambda index: index.bm25("pump filter", k=5),
            lambda index: index.dense("pump", k=5, filter={"n": {"$gt": 1}}),
            lambda index: index.get(ids),
            lambda index: index.vectors(index.chunk_ids()),
            lambda index: index.documents(),
            lambda index: index.fields(),
            lambda index: index.chunks_of(doc_id),
        ):
            faults: list[str] = []
            try:
                use(LocalIndex.open(filled, embedder=EMBEDDER))
            except IndexDamagedError as error:
                faults.append(str(error))
            except KeyError:
                pass  # the id is another one now
            assert all(file.name in fault for fault in faults)
    file.write_bytes(good)


def test_a_folder_that_cannot_be_written_is_read_all_the_same(filled: Path, pair: Pair) -> None:
    (filled / "lock").unlink()
    (filled / "lock").mkdir()  # stands for a lock that cannot be made; root may write anywhere
    index = LocalIndex.open(filled)
    assert index.bm25("pump", k=1)
    with pytest.raises(ConfigError, match="cannot be written"):
        index.upsert(*pair("new.txt", ["new"]))


def test_who_had_the_index_open_does_not_mix_models_when_another_embeds_it_again(filled: Path, pair: Pair) -> None:
    given = LocalIndex.open(filled, embedder=EMBEDDER)
    made = LocalIndex.open(filled)
    assert len(made.dense("pump", k=1)) == 1
    reembed_index(filled, Renamed(dimensions=16)).close()
    assert len(given.dense("pump", k=1)) == 1  # of the state that it has open
    for use in (given.refresh, lambda: given.upsert(*pair("new.txt", "new")), lambda: given.delete(ids=["x"])):
        with pytest.raises(IndexMismatchError, match=r"'other'.*'hashing-16'.*--reembed"):
            use()
    assert len(given.dense("pump", k=1)) == 1
    reembed_index(filled, HashingEmbedder(dimensions=32)).close()
    assert made.refresh()
    assert made.dense("the pump number 3", k=1)[0].score == pytest.approx(1.0)
    with made:
        made.upsert(*pair("new.txt", "new"))
    assert LocalIndex.open(filled).vectors(made.chunk_ids()).shape == (11, 32)


def test_what_is_committed_while_embedding_again_waits_for_the_lock_is_not_lost(filled: Path, pair: Pair) -> None:
    writer = LocalIndex.open(filled, embedder=EMBEDDER)
    writer.upsert(*pair("late.txt", "a late pump"))
    waiting = threading.Thread(target=reembed_index, args=(filled, HashingEmbedder(dimensions=32)))
    waiting.start()
    time.sleep(0.3)
    writer.commit()
    waiting.join()
    index = LocalIndex.open(filled)
    assert index.manifest["embedder"]["dimension"] == 32
    assert "late.txt" in index.sources()


def test_changed_weights_are_noticed_by_who_had_the_index_open(filled: Path, pair: Pair) -> None:
    index = LocalIndex.open(filled, embedder=EMBEDDER)
    assert index.dense("pump", k=1)
    reembed_index(filled, Changed(dimensions=16)).close()  # the same name
    assert index.refresh()
    with pytest.raises(IndexMismatchError, match="has changed since"):
        index.dense("pump", k=1)
    with pytest.raises(IndexMismatchError, match="has changed since"), index:
        index.upsert(*pair("new.txt", "new"))
    assert len(LocalIndex.open(filled)) == 10


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


WRITER = """
import sys
from langchain_core.documents import Document
from rag_app.embed import HashingEmbedder
from rag_app.index import IndexSettings, LocalIndex
from rag_app.types import LoadedDocument
path, start = sys.argv[1], int(sys.argv[2])
index = LocalIndex.open_or_create(
    path, embedder=HashingEmbedder(dimensions=8), settings=IndexSettings(segments_per_tier=2)
)
print("ready", flush=True)
for n in range(start, 10_000):
    text = f"pump {n}"
    index.upsert(LoadedDocument(id=f"d{n}", page_content=text), [Document(id=f"c{n}", page_content=text)], replace="id")
    if n % 3 == 2:
        index.delete(ids=[f"d{n - 2}"])
    index.commit()
    print(n, flush=True)
"""


def test_a_killed_writer_loses_only_what_it_had_not_committed(tmp_path: Path) -> None:
    chance, path, start = random.Random(7), tmp_path / "index", 0
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(start)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.05, 0.6))
        os.kill(process.pid, signal.SIGKILL)
        told = [int(line) for line in process.stdout.read().split()]
        process.stdout.close()
        process.wait()
        acknowledged = told[-1] if told else start - 1
        index = LocalIndex.open(path, embedder=HashingEmbedder(dimensions=8))
        assert index.verify() == []
        # The last commit may have come through without being told of.
        assert index.chunk_ids() in (expected_after(acknowledged), expected_after(acknowledged + 1))
        start = acknowledged + 1 if index.chunk_ids() == expected_after(acknowledged) else acknowledged + 2


def expected_after(last: int) -> list[str]:
    """The chunks when every n up to `last` was put in, and every third step took out the one two before."""
    gone = {n - 2 for n in range(last + 1) if n % 3 == 2}
    return sorted(f"c{n}" for n in range(last + 1) if n not in gone)


def test_two_writers_and_two_readers_at_once_see_whole_commits(tmp_path: Path, pair: Pair) -> None:
    path = tmp_path / "index"
    LocalIndex.create(path, embedder=EMBEDDER).close()
    stop, errors, written = time.monotonic() + 20, [], [0, 0]

    def write(who: int) -> None:
        try:
            while time.monotonic() < stop and min(written) < 4 and written[who] < 40:
                with LocalIndex.open(path, embedder=EMBEDDER) as index:
                    index.upsert(*pair(f"{who}-{written[who]}.txt", ["pump one", "pump two"]))
                written[who] += 1
        except Exception as error:
            errors.append(error)

    def read() -> None:
        try:
            index = LocalIndex.open(path, embedder=EMBEDDER)
            while time.monotonic() < stop and min(written) < 4:
                index.refresh()
                count = len(index)
                assert count % 2 == 0
                assert len(index.bm25("pump", k=10_000)) == count
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(0,)), threading.Thread(target=write, args=(1,))]
    threads += [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(LocalIndex.open(path)) == 2 * sum(written)
    assert min(written) > 0


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
