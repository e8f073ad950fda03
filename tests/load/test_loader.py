from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from rag_app.load import Loader, duplicates, from_documents, load_path
from rag_app.types import LoadedDocument, LoadError, LoadFailure, make_doc_id


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.md").write_text("---\ntitle: First\ntags: [x, y]\n---\n# One\n\nText.\n\n## Two\n\nMore.\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.txt").write_text("Plain text.")
    (tmp_path / "b" / "copy.txt").write_text("Plain text.")
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    (tmp_path / "empty.txt").write_text("  \n")
    return tmp_path


def test_every_file_of_a_folder_is_a_document_or_a_failure(folder: Path) -> None:
    items = list(Loader(workers=2).load_all([folder]))
    documents = [item for item in items if isinstance(item, LoadedDocument)]
    failures = {item.source: item.error for item in items if isinstance(item, LoadFailure)}
    assert [d.metadata["source"] for d in documents] == ["a.md", "b/c.txt", "b/copy.txt"]
    assert failures == {"bad.pdf": "broken", "empty.txt": "empty"}
    first = documents[0]
    assert first.id == first.metadata["doc_id"] == make_doc_id("a.md", first.page_content)
    assert first.metadata["title"] == "First"
    assert first.metadata["tags"] == ["x", "y"]
    assert first.page_content == "# One\n\nText.\n\n## Two\n\nMore."
    assert first.layout.section_path_at(first.page_content.index("More")) == ["One", "Two"]
    assert len(first.metadata["sha256"]) == 64
    assert first.metadata["size"] == (folder / "a.md").stat().st_size


def test_files_with_equal_content_are_two_documents_and_can_be_named(folder: Path) -> None:
    documents = list(Loader(on_failure="ignore", paths=[folder]).lazy_load())
    assert duplicates(documents) == [["b/c.txt", "b/copy.txt"]]
    assert len({document.id for document in documents}) == 3


def test_the_loader_is_a_langchain_loader_that_warns_raises_or_keeps_quiet(folder: Path) -> None:
    assert isinstance(Loader(), BaseLoader)
    with pytest.warns(UserWarning, match=r"bad\.pdf: the PDF is damaged"):
        assert len(Loader(paths=[folder], exclude=["empty.txt"]).load()) == 3
    with pytest.raises(LoadError, match="empty"):
        Loader(paths=[folder], on_failure="raise", exclude=["bad.pdf"]).load()


def test_the_settings_hide_passwords_and_paths() -> None:
    dumped = Loader.model_validate({"passwords": ["secret"], "paths": ["x"]}).model_dump(mode="json")
    assert "secret" not in str(dumped)
    assert "paths" not in dumped


def test_a_single_file_is_named_by_its_name_and_below_a_root_by_its_path(folder: Path) -> None:
    assert [d.metadata["source"] for d in load_path(folder / "b" / "c.txt") if isinstance(d, Document)] == ["c.txt"]
    below = load_path(folder / "b" / "c.txt", root=folder)[0]
    assert isinstance(below, LoadedDocument)
    assert below.metadata["source"] == "b/c.txt"


def test_the_document_type_can_be_set_by_pattern(folder: Path) -> None:
    document = load_path(folder / "a.md", options=Loader(document_types={"*.md": "contract"}))[0]
    assert isinstance(document, LoadedDocument)
    assert document.metadata["document_type"] == "contract"


def test_progress_counts_every_file(folder: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    list(Loader(workers=1).load_all([folder], lambda *args: seen.append(args)))
    assert seen == [(n, 5, "load") for n in range(1, 6)]


def test_leaving_the_iterator_early_ends_the_workers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Remembered(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Remembered)
    items = Loader(workers=1).load_all([folder])
    next(items)
    assert started
    items.close()  # type: ignore[attr-defined]
    assert all(worker.poll() is not None for worker in started)


def test_foreign_documents_come_in_normalized_and_keep_their_metadata() -> None:
    foreign = [
        Document("a\r\nb", metadata={"source": "x.pdf", "page": 0, "mine": 1}),
        Document("c", metadata={"source": "x.pdf", "page": 1}),
        Document("  "),
        Document("d", id="own"),
        Document("e"),
    ]
    loaded = list(from_documents(foreign))
    assert [d.metadata["source"] for d in loaded] == ["x.pdf#page=0", "x.pdf#page=1", "own", "document-5"]
    assert loaded[0].page_content == "a\nb"
    assert loaded[0].metadata["mine"] == 1
    assert foreign[0].page_content == "a\r\nb"
    assert list(from_documents(loaded)) == loaded


def test_loading_twice_gives_the_same_documents(folder: Path) -> None:
    assert list(Loader(workers=2).load_all([folder])) == list(Loader(workers=1).load_all([folder]))
