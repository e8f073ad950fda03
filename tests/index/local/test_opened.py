"""An index that was opened: what is known before the first question, and what a writer may do meanwhile."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.errors import IndexDamagedError
from rag_app.index import IndexSettings, LocalIndex
from rag_app.index.local import doors
from rag_app.types import LoadedDocument

EMBEDDER = HashingEmbedder(dimensions=16)
FILES = ("arrays.bin", "chunks.jsonl", "documents.jsonl", "vectors.f32")


def put(index: LocalIndex, number: int) -> None:
    text = f"pump {number} needs oil"
    document = LoadedDocument(id=f"d{number}", page_content=text, metadata={"source": f"{number}.txt"})
    chunk = Document(id=f"d{number}:0-{len(text)}", page_content=text, metadata={"source": f"{number}.txt"})
    index.upsert(document, [chunk])
    index.commit()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two segments, one document of the first deleted."""
    with LocalIndex.create(tmp_path / "i", embedder=EMBEDDER) as index:
        for number in range(4):
            put(index, number)
        index.merge()
        put(index, 4)
        put(index, 5)
        index.delete(sources=["1.txt"])
    return tmp_path / "i"


def everything(index: LocalIndex) -> tuple[object, ...]:
    """All that a reader can say of the state."""
    ids = index.chunk_ids()
    return (
        *(len(index), ids, index.get(ids), index.documents(), index.fields(), index.vectors(ids).tolist()),
        *(index.bm25("pump oil", k=9), index.dense("pump 2", k=9), index.chunks_of("d3"), index.document("d3")),
    )


def test_what_is_known_of_an_index_needs_no_numpy_before_the_first_question(path: Path) -> None:
    program = (
        "import sys\n"
        "from rag_app.index import LocalIndex\n"
        f"index = LocalIndex.open({str(path)!r})\n"
        "assert len(index) == 5 and index and index.notes == {} and index.manifest['counts']['documents'] == 5\n"
        "assert not index.refresh() and index.verify() == []\n"
        "print([name for name in ('numpy', 'pydantic', 'langchain_core') if name in sys.modules])\n"
        "print(len(index.bm25('pump', k=9)), 'numpy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "5 True"]


def test_one_state_has_one_object_of_settings_whether_it_was_opened_or_written(path: Path) -> None:
    for index in (
        LocalIndex.open(path, embedder=EMBEDDER),
        LocalIndex.open(path, settings=IndexSettings(flush_chunks=9)),
    ):
        assert index.settings is index._snapshot.settings
        before = index.settings
        put(index, 6)
        assert index.settings is index._snapshot.settings is before
        assert len(index) == index._snapshot.count == 6


def test_a_reader_answers_its_first_question_from_the_state_it_opened_though_a_merge_removed_its_files(
    path: Path,
) -> None:
    before = everything(LocalIndex.open(path, embedder=EMBEDDER))
    reader = LocalIndex.open(path, embedder=EMBEDDER)
    old = {folder.name for folder in (path / "segments").iterdir()}
    with LocalIndex.open(path, embedder=EMBEDDER) as writer:
        writer.delete(sources=["2.txt"])
        put(writer, 6)
        writer.merge()
    assert not old & {folder.name for folder in (path / "segments").iterdir()}
    assert everything(reader) == before
    assert reader.refresh()
    assert everything(reader) == everything(LocalIndex.open(path, embedder=EMBEDDER))


@pytest.mark.parametrize("name", [*FILES, "deleted"])
@pytest.mark.parametrize("fault", ["missing", "cut", "empty", "longer"])
@pytest.mark.parametrize("checked", [True, False], ids=["small", "large"])
def test_a_file_that_is_missing_or_of_another_size_is_named_on_opening(
    path: Path, name: str, fault: str, checked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not checked:
        monkeypatch.setattr(doors, "_VERIFY_BELOW", -1)
    file = next(path.glob(f"segments/*/{'deleted-*' if name == 'deleted' else name}"))
    content = file.read_bytes()
    if fault == "missing":
        file.unlink()
    else:
        file.write_bytes({"cut": content[:-1], "empty": b"", "longer": content + b"\0"}[fault])
    with pytest.raises(IndexDamagedError, match=file.name):
        LocalIndex.open(path)


@pytest.mark.parametrize("name", ["arrays.bin", "deleted"])
def test_a_large_file_that_is_no_file_of_arrays_is_named_on_opening(
    path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "_VERIFY_BELOW", -1)
    file = next(path.glob(f"segments/*/{'deleted-*' if name == 'deleted' else name}"))
    content = file.read_bytes()
    for wrong in (b"\0" * len(content), content[:16] + b"{" * 40 + content[56:], content[:8] + b"\xff" * 8):
        file.write_bytes(wrong.ljust(len(content), b"\0"))
        with pytest.raises(IndexDamagedError, match=file.name):
            LocalIndex.open(path)


def test_a_large_file_whose_arrays_do_not_fit_is_named_at_the_first_question(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "_VERIFY_BELOW", -1)
    file = next(path.glob("segments/*/arrays.bin"))
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"doc_of_row": ["<i4"', b'"doc_of_row": ["<x4"'))
    index = LocalIndex.open(path)
    for ask in (lambda: index.bm25("pump", k=1), index.chunk_ids, index.documents):
        with pytest.raises(IndexDamagedError, match=r"arrays\.bin"):
            ask()


def test_many_first_questions_at_once_are_answered_alike(path: Path) -> None:
    expected = everything(LocalIndex.open(path, embedder=EMBEDDER))
    for _ in range(10):
        index = LocalIndex.open(path, embedder=EMBEDDER)
        found: list[object] = []
        start = threading.Barrier(8)

        def ask(index: LocalIndex = index, found: list[object] = found, start: threading.Barrier = start) -> None:
            start.wait()
            found.append((id(index._snapshot), everything(index)))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [(id(index._snapshot), expected)] * 8


async def test_first_questions_may_come_from_a_loops_threads(path: Path) -> None:
    index = LocalIndex.open(path, embedder=EMBEDDER)
    found = await asyncio.gather(*(asyncio.to_thread(index.bm25, "pump", k=9) for _ in range(8)))
    assert found == [index.bm25("pump", k=9)] * 8
