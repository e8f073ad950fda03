"""An analyzer of one's own in an index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.index import IndexSettings, LocalIndex, LocalVectorStore
from rag_app.text import Analyzer
from rag_app.types import IndexMismatchError


class Commas(Analyzer):
    """A term is what stands between commas, spaces and signs included."""

    lower: bool = True

    def index_terms(self, text: str, *, language: str) -> list[str]:
        terms = [part.strip() for part in text.split(",") if part.strip()]
        return [term.lower() for term in terms] if self.lower else terms

    def query_terms(self, text: str, *, languages: Sequence[str]) -> dict[str, int]:
        return dict.fromkeys(self.index_terms(text, language="none"), 1)


class Spaces(Commas):
    """Another class."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = IndexSettings(analyzer=Commas(), segments_per_tier=2)
    store = LocalVectorStore(HashingEmbedder(), tmp_path / "index", settings=settings)
    for i, text in enumerate(["C++, red pump, red pump", "C#, blue", "red, pump", "", "c++"]):
        store.add_texts([text], ids=[str(i)])
    return tmp_path / "index"


def found(index: LocalIndex, query: str) -> list[str]:
    return [hit.chunk_id for hit in index.bm25(query, k=9)]


def test_it_finds_its_own_terms_after_merges_and_after_opening(folder: Path) -> None:
    index = LocalIndex.open(folder, settings=IndexSettings(analyzer=Commas()))
    assert found(index, "Red Pump") == ["0"]
    assert found(index, "C++") == ["4", "0"]
    assert found(index, "pump, blue") == ["1", "2"]
    terms = index.bm25_terms("red pump, C++", "0")
    assert list(terms) == ["red pump", "c++"]
    assert terms["red pump"] > terms["c++"]  # it stands there twice, and in no other chunk


def test_an_index_of_another_analyzer_is_never_searched_by_ours(folder: Path) -> None:
    way_out = r"analyzer '.*Commas', a class of yours; open it with `settings=IndexSettings\(analyzer=...\)`\Z"
    with pytest.raises(IndexMismatchError, match=way_out):
        LocalIndex.open(folder).bm25("pump", k=1)
    for other in (Analyzer(), Spaces()):
        with pytest.raises(IndexMismatchError, match=way_out):
            LocalIndex.open(folder, settings=IndexSettings(analyzer=other))
    with pytest.raises(IndexMismatchError, match="lower True against False"):
        LocalIndex.open(folder, settings=IndexSettings(analyzer=Commas(lower=False)))
    LocalVectorStore.from_texts(["pump"], HashingEmbedder(), path=folder.parent / "ours")
    with pytest.raises(IndexMismatchError, match=r"class None against '.*Commas'"):
        LocalIndex.open(folder.parent / "ours", settings=IndexSettings(analyzer=Commas()))


def test_its_name_in_a_manifest_imports_nothing(folder: Path) -> None:
    assert LocalIndex.open(folder).manifest["settings"]["analyzer"]["class"].endswith("test_analyzer.Commas")
    assert "class" not in IndexSettings().model_dump()["analyzer"]
    assert len(LocalIndex.open(folder).dense("red pump", k=9)) == 4
