"""A LangChain FAISS folder becomes an index; a pickle that wants to do more is refused."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.index.import_faiss import import_faiss, read_docstore
from rag_app.types import IndexDamagedError, IndexMismatchError, IndexMissingError

EMBEDDER = HashingEmbedder(dimensions=16)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the frozen packages warn on import
        from langchain_community.vectorstores import FAISS

        documents = [Document(page_content=f"the pump {i}", metadata={"n": i}, id=f"id{i}") for i in range(4)]
        FAISS.from_documents(documents, EMBEDDER, ids=[str(d.id) for d in documents]).save_local(str(tmp_path / "old"))
    return tmp_path / "old"


@pytest.mark.community
def test_texts_ids_metadata_and_vectors_are_kept(saved: Path, tmp_path: Path) -> None:
    index = import_faiss(saved, tmp_path / "new", embedder=EMBEDDER)
    assert index.chunk_ids() == ["id0", "id1", "id2", "id3"]
    assert index.get(["id2"]) == [Document(id="id2", page_content="the pump 2", metadata={"n": 2})]
    assert (index.vectors(["id2"]) == EMBEDDER.encode(["the pump 2"])).all()
    assert [hit.chunk_id for hit in index.dense("the pump 3", k=1)] == ["id3"]
    assert len(index.bm25("pump", k=9, filter={"n": {"$gt": 1}})) == 2


@pytest.mark.community
def test_another_dimension_and_a_missing_folder_are_told(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexMismatchError, match="dimension 16"):
        import_faiss(saved, tmp_path / "new", embedder=HashingEmbedder(dimensions=32))
    with pytest.raises(IndexMissingError, match="nothing"):
        import_faiss(tmp_path / "nothing", tmp_path / "new", embedder=EMBEDDER)


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/should-not-exist",)


@pytest.mark.parametrize(
    "content",
    [Evil(), (Evil(), {}), ({}, {}), [1], "text", (Document(page_content="x"), {0: "a"})],
    ids=["call", "call inside", "no docstore", "list", "string", "document for a docstore"],
)
def test_a_pickle_that_is_no_docstore_builds_nothing(content: Any) -> None:
    with pytest.raises((pickle.UnpicklingError, TypeError, ValueError)):
        read_docstore(pickle.dumps(content))


@pytest.mark.community
def test_a_folder_with_such_a_pickle_is_damaged(saved: Path, tmp_path: Path) -> None:
    (saved / "index.pkl").write_bytes(pickle.dumps((Evil(), {})))
    with pytest.raises(IndexDamagedError, match=r"system, which is refused"):
        import_faiss(saved, tmp_path / "new", embedder=EMBEDDER)


@pytest.mark.community
def test_a_row_that_has_no_vector_is_damaged_and_makes_no_index(saved: Path, tmp_path: Path) -> None:
    import faiss

    stored = faiss.read_index(str(saved / "index.faiss"))
    stored.remove_ids(np.array([3]))
    faiss.write_index(stored, str(saved / "index.faiss"))
    with pytest.raises(IndexDamagedError, match="names row 3"):
        import_faiss(saved, tmp_path / "new", embedder=EMBEDDER)
    assert not (tmp_path / "new").exists()
