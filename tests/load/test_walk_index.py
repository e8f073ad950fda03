"""An index is no document: walks leave it out, and who names it is told."""

from __future__ import annotations

from pathlib import Path

from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex
from rag_app.load.walk import Found, find
from rag_app.types import LoadedDocument, LoadFailure


def make_index(folder: Path) -> None:
    with LocalIndex.create(folder, embedder=HashingEmbedder()) as index:
        document = LoadedDocument(id="d", page_content="A pump.", metadata={"source": "a.txt"})
        index.upsert(document, [Document(id="d:0-7", page_content="A pump.", metadata={"source": "a.txt"})])
        index.commit()


def test_an_index_inside_the_folder_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A pump.")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "manifest.json").write_text('{"name": "a web app"}')
    make_index(tmp_path / "docs.index")
    make_index(tmp_path / "deep" / "old.index")
    found = [item.source for item in find([tmp_path])]
    assert found == ["a.txt", "deep/manifest.json"]


def test_an_index_that_is_named_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A pump.")
    make_index(tmp_path / "docs.index")
    failure, file = find([tmp_path / "docs.index", tmp_path / "a.txt"])
    assert isinstance(failure, LoadFailure)
    assert "is an index" in failure.reason
    assert isinstance(file, Found)
