"""A LangChain FAISS folder becomes an index."""

from __future__ import annotations

import datetime as dt
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from faiss_folder import DOCUMENTS, EMBEDDER, faiss_store, save
from langchain_core.documents import Document
from pydantic import PrivateAttr

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex
from rag_app.index.import_faiss import import_faiss
from rag_app.types import ConfigError, Hit, IndexDamagedError, IndexMismatchError, IndexMissingError


def foreign(structure: Any, rows: dict[int, Document]) -> Any:
    """LangChain's store around a FAISS index of one's own."""
    kind = faiss_store()
    from langchain_community.docstore.in_memory import InMemoryDocstore

    held = {str(d.id): d for d in rows.values()}
    return kind(EMBEDDER, structure, InMemoryDocstore(held), {row: str(d.id) for row, d in rows.items()})


@pytest.mark.community
def test_texts_ids_metadata_and_vectors_are_kept(saved: Path, tmp_path: Path) -> None:
    index = import_faiss(saved, tmp_path / "new", embedder=EMBEDDER)
    assert index.chunk_ids() == ["id0", "id1", "id2", "id3"]
    assert index.get(["id2"]) == [Document(id="id2", page_content="the pump 2", metadata={"n": 2})]
    assert (index.vectors(["id2"]) == EMBEDDER.encode(["the pump 2"])).all()
    assert [hit.chunk_id for hit in index.dense("the pump 3", k=1)] == ["id3"]
    assert len(index.bm25("pump", k=9, filter={"n": {"$gt": 1}})) == 2


@pytest.mark.community
@pytest.mark.parametrize("strategy", ["EUCLIDEAN_DISTANCE", "MAX_INNER_PRODUCT", "COSINE"])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.filterwarnings("ignore:Normalizing L2")
def test_every_distance_gives_the_same_index(strategy: str, normalize: bool, tmp_path: Path) -> None:
    from langchain_community.vectorstores.utils import DistanceStrategy

    save(tmp_path / "old", distance_strategy=DistanceStrategy(strategy), normalize_L2=normalize)
    index = import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)
    assert index.vectors(["id2"])[0] == pytest.approx(EMBEDDER.encode(["the pump 2"])[0], abs=1e-6)
    assert index.dense("the pump 3", k=1)[0].score == pytest.approx(1.0)


def structure(kind: str, rows: Any) -> Any:
    import faiss

    if kind == "id map":
        made = faiss.IndexIDMap(faiss.IndexFlatL2(rows.shape[1]))
        made.add_with_ids(rows, np.arange(100, 100 + len(rows)))
        return made
    made = faiss.index_factory(rows.shape[1], kind, faiss.METRIC_INNER_PRODUCT if kind == "Flat" else faiss.METRIC_L2)
    made.train(rows)
    made.add(rows)
    return made


@pytest.mark.community
@pytest.mark.parametrize("kind", ["Flat", "HNSW8,Flat", "IVF2,Flat", "SQ8", "id map"])
def test_every_structure_gives_its_vectors_back(kind: str, tmp_path: Path) -> None:
    rows = EMBEDDER.encode([d.page_content for d in DOCUMENTS])
    first = 100 if kind == "id map" else 0
    store = foreign(structure(kind, 3 * rows), {first + i: d for i, d in enumerate(DOCUMENTS)})
    store.save_local(str(tmp_path / "old"))
    index = import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)
    assert len(index) == len(DOCUMENTS)
    assert index.vectors(["id2"])[0] == pytest.approx(rows[2], abs=0.02)


@pytest.mark.community
def test_a_structure_that_gives_no_vectors_back_is_told_and_ends_nothing(tmp_path: Path) -> None:
    rows = EMBEDDER.encode([d.page_content for d in DOCUMENTS])
    ivf = structure("IVF2,Flat", rows)
    ivf.remove_ids(np.array([1]))
    foreign(ivf, {0: DOCUMENTS[0]}).save_local(str(tmp_path / "old"))
    with pytest.raises(IndexDamagedError, match="gives its vectors back"):
        import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)
    assert not (tmp_path / "new").exists()


@pytest.mark.community
def test_deleted_rows_stay_away_and_ids_may_be_numbers(tmp_path: Path) -> None:
    store = save(tmp_path / "old", ids=[0, 1, 2, 3])
    store.delete([1])
    store.save_local(str(tmp_path / "old"))
    index = import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)
    assert index.chunk_ids() == ["0", "2", "3"]
    assert index.dense("the pump 3", k=1)[0] == Hit("3", pytest.approx(1.0), 1)  # type: ignore[arg-type]


@pytest.mark.community
def test_a_row_without_its_document_is_left_out_with_a_warning(tmp_path: Path) -> None:
    store = save(tmp_path / "old")
    del store.docstore._dict["id1"]
    store.save_local(str(tmp_path / "old"))
    with pytest.warns(UserWarning, match=r"1 of 4 rows have no document; left out"):
        index = import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)
    assert index.chunk_ids() == ["id0", "id2", "id3"]


@pytest.mark.community
def test_two_ids_of_one_text_are_told(tmp_path: Path) -> None:
    rows = EMBEDDER.encode(["the pump 0", "the pump 1"])
    store = foreign(structure("Flat", rows), {})
    store.docstore._dict.update({1: DOCUMENTS[0], "1": DOCUMENTS[1]})
    store.save_local(str(tmp_path / "old"))
    with pytest.raises(IndexDamagedError, match="two documents whose id as text is '1'"):
        import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)


@pytest.mark.community
def test_vectors_that_cannot_be_used_are_made_anew_and_blank_texts_have_none(tmp_path: Path) -> None:
    rows = EMBEDDER.encode([d.page_content for d in DOCUMENTS])
    rows[0], rows[1] = 0, np.nan
    blank = Document(page_content=" ", id="blank")
    stored = np.concatenate([rows, rows[2:3]])
    foreign(structure("Flat", stored), dict(enumerate([*DOCUMENTS, blank]))).save_local(str(tmp_path / "old"))
    index = import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)
    assert len(index) == 5
    assert {hit.chunk_id for hit in index.dense("the pump 0", k=9)} == {"id0", "id1", "id2", "id3"}
    assert index.dense("the pump 1", k=1)[0].chunk_id == "id1"


class Other(HashingEmbedder):
    """Of the same dimension, with vectors of its own."""

    def _encode(self, texts: Sequence[str], *, query: bool) -> Any:
        return super()._encode([text[::-1] + "!" for text in texts], query=query)


@pytest.mark.community
def test_another_model_of_the_same_dimension_is_told_and_makes_no_index(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexMismatchError, match=r"not those of hashing-16.*set `embed`"):
        import_faiss(saved, tmp_path / "new", embedder=Other(dimensions=16))
    assert not LocalIndex.exists(tmp_path / "new")


@pytest.mark.community
def test_a_failed_import_can_be_tried_again(tmp_path: Path) -> None:
    documents = [Document(page_content="the pump", id="a", metadata={"raw": b"x"})]
    foreign(structure("Flat", EMBEDDER.encode(["the pump"])), dict(enumerate(documents))).save_local(
        str(tmp_path / "old")
    )
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"metadata\.raw: a bytes cannot be stored"):
            import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)
    save(tmp_path / "old")
    assert len(import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)) == 4
    with pytest.raises(ConfigError, match="there is an index in"):
        import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)


@pytest.mark.community
def test_dates_and_numpys_numbers_in_metadata_are_read(tmp_path: Path) -> None:
    metadata = {
        "seen": dt.datetime(2024, 3, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        "day": dt.date(2024, 3, 1),
        "i": np.int64(-3),
        "f": np.float32(0.5),
        "b": np.bool_(True),
        "o": OrderedDict(a=1),
        "s": {1, 2},
    }
    documents = [Document(page_content="the pump", id="a", metadata=metadata)]
    foreign(structure("Flat", EMBEDDER.encode(["the pump"])), dict(enumerate(documents))).save_local(
        str(tmp_path / "old")
    )
    index = import_faiss(tmp_path / "old", tmp_path / "new", embedder=EMBEDDER)
    read = index.get(["a"])[0].metadata
    assert read == {**metadata, "i": -3, "f": 0.5, "b": True, "o": {"a": 1}, "s": [1, 2]}
    assert len(index.dense("pump", k=1, filter={"seen": {"$gt": "2024-03-01"}, "i": {"$lt": 0}})) == 1


@pytest.mark.community
def test_another_dimension_and_a_missing_folder_are_told(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexMismatchError, match="dimension 16"):
        import_faiss(saved, tmp_path / "new", embedder=HashingEmbedder(dimensions=32))
    with pytest.raises(IndexMissingError, match="nothing"):
        import_faiss(tmp_path / "nothing", tmp_path / "new", embedder=EMBEDDER)


@pytest.mark.community
def test_a_row_that_has_no_vector_is_damaged_and_makes_no_index(saved: Path, tmp_path: Path) -> None:
    import faiss

    stored = faiss.read_index(str(saved / "index.faiss"))
    stored.remove_ids(np.array([3]))
    faiss.write_index(stored, str(saved / "index.faiss"))
    with pytest.raises(IndexDamagedError, match="names row 3"):
        import_faiss(saved, tmp_path / "new", embedder=EMBEDDER)
    assert not (tmp_path / "new").exists()


@pytest.mark.community
def test_a_server_that_is_busy_for_a_moment_ends_no_import(saved: Path, tmp_path: Path) -> None:
    class Busy(HashingEmbedder):
        retry_waits: ClassVar[tuple[float, ...]] = (0.0,)
        _failures: int = PrivateAttr(default=1)

        def _encode(self, texts: Sequence[str], *, query: bool) -> Any:
            if self._failures:
                self._failures -= 1
                raise TimeoutError("busy")
            return super()._encode(texts, query=query)

    assert len(import_faiss(saved, tmp_path / "new", embedder=Busy(dimensions=16))) == 4
