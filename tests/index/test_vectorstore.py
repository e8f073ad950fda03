"""LangChain's own suite for vector stores, and what users found broken in others."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalVectorStore
from rag_app.index.vectorstore import mmr
from rag_app.types import ConfigError, EmbeddingError, IndexMismatchError


class TestLangChainSuite(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> VectorStore:  # type: ignore[override]
        return LocalVectorStore(self.get_embeddings(), tmp_path / "store")


@pytest.fixture
def store(tmp_path: Path) -> LocalVectorStore:
    return LocalVectorStore(HashingEmbedder(), tmp_path / "store")


def test_a_filtered_search_gives_k_documents_when_k_match(store: LocalVectorStore) -> None:
    store.add_texts([f"item number {i}" for i in range(100)], [{"rare": i >= 95} for i in range(100)])
    found = store.similarity_search("item number 1", k=5, filter={"rare": True})
    assert len(found) == 5
    assert all(document.metadata["rare"] for document in found)
    assert len(store.similarity_search("item number 1", k=30, filter={"rare": {"$exists": True}})) == 30


@pytest.mark.parametrize("texts", [[], ["", ""], ["  \n"]])
def test_no_texts_and_blank_texts_make_an_empty_store_that_can_be_added_to(texts: list[str], tmp_path: Path) -> None:
    store = LocalVectorStore.from_texts(texts, HashingEmbedder(), path=tmp_path / "store")
    assert store.similarity_search("pump") == []
    assert store.index.bm25("pump", k=3) == ()
    store.add_texts(["the pump"])
    assert [d.page_content for d in store.similarity_search("pump")] == ["the pump"]


def test_the_best_match_has_the_highest_relevance_and_passes_the_threshold(store: LocalVectorStore) -> None:
    store.add_texts(["pump filter", "holiday list", "zzz qqq"])
    scored = store.similarity_search_with_relevance_scores("pump filter", k=3)
    assert scored[0][0].page_content == "pump filter"
    assert scored[0][1] == pytest.approx(1.0)
    assert [score for _, score in scored] == sorted((score for _, score in scored), reverse=True)
    kept = store.similarity_search_with_relevance_scores("pump filter", k=3, score_threshold=0.9)
    assert [document.page_content for document, _ in kept] == ["pump filter"]


class TwoDirections(Embeddings):
    """ "a" and "b" are orthogonal, everything else lies between; lengths differ."""

    def embed_query(self, text: str) -> list[float]:
        return {"a": [1.0, 0.0], "b": [0.0, 7.0]}.get(text, [1.0, 1.0])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def test_relevance_of_orthogonal_vectors_lies_in_0_to_1(tmp_path: Path) -> None:
    store = LocalVectorStore.from_texts(["a", "b"], TwoDirections(), path=tmp_path / "store")
    scored = store.similarity_search_with_relevance_scores("b", k=2)
    assert [(document.page_content, score) for document, score in scored] == [("b", 1.0), ("a", 0.5)]
    assert [score for _, score in store.similarity_search_with_score("b", k=2)] == [1.0, 0.0]


def test_a_store_remembers_its_model_and_says_so_when_another_opens_it(tmp_path: Path) -> None:
    LocalVectorStore.from_texts(["the pump"], HashingEmbedder(), path=tmp_path / "store")
    reopened = LocalVectorStore(HashingEmbedder(), tmp_path / "store")
    assert reopened.similarity_search_with_score("the pump")[0][1] == pytest.approx(1.0)
    with pytest.raises(IndexMismatchError, match=r"hashing-256.*hashing-8.*--rebuild"):
        LocalVectorStore(HashingEmbedder(dimensions=8), tmp_path / "store")


def test_indexing_again_by_langchain_repairs_nothing_and_loses_nothing(store: LocalVectorStore) -> None:
    manager = InMemoryRecordManager(namespace="test")
    manager.create_schema()
    documents = [Document(page_content=f"text {i}", metadata={"source": f"{i}.txt"}) for i in range(3)]
    options = {"cleanup": "full", "source_id_key": "source", "key_encoder": "sha256"}
    assert index(documents, manager, store, **options)["num_added"] == 3  # type: ignore[arg-type]
    assert index(documents, manager, store, **options)["num_skipped"] == 3  # type: ignore[arg-type]
    assert index(documents[:1], manager, store, **options)["num_deleted"] == 2  # type: ignore[arg-type]
    assert [d.page_content for d in store.similarity_search("text", k=9)] == ["text 0"]


def test_a_retriever_made_of_the_store_takes_filters_and_thresholds(store: LocalVectorStore) -> None:
    store.add_texts(["red pump", "blue pump"], [{"color": "red"}, {"color": "blue"}])
    retriever = store.as_retriever(search_kwargs={"k": 5, "filter": {"color": "blue"}})
    assert [d.page_content for d in retriever.invoke("pump")] == ["blue pump"]
    diverse = store.as_retriever(search_type="mmr", search_kwargs={"k": 2})
    assert len(diverse.invoke("pump")) == 2


def test_mmr_passes_over_a_copy_for_something_else() -> None:
    import numpy as np

    vectors = np.asarray([[1, 0], [1, 0], [0.8, 0.6]], dtype=np.float32)
    # second step: row 1 has .5 * 1 - .5 * 1 = 0, row 2 has .5 * .8 - .5 * .8 = 0 less nothing: the tie goes to row 1
    assert mmr([1.0, 1.0, 0.8], vectors, k=2, lambda_mult=0.4) == [0, 2]
    assert mmr([1.0, 1.0, 0.8], vectors, k=2, lambda_mult=1.0) == [0, 1]


def test_a_query_vector_of_another_dimension_or_with_nan_is_a_clear_error(store: LocalVectorStore) -> None:
    store.add_texts(["pump"])
    with pytest.raises(EmbeddingError, match="dimension 256"):
        store.similarity_search_by_vector([1.0, 2.0])
    with pytest.raises(EmbeddingError, match="NaN"):
        store.similarity_search_by_vector([float("nan")] * 256)
    assert store.similarity_search_by_vector([0.0] * 256) == []


def test_texts_ids_and_metadata_of_different_number_are_refused(store: LocalVectorStore) -> None:
    with pytest.raises(ConfigError, match="ids: 1 for 2"):
        store.add_texts(["a", "b"], ids=["1"])
    with pytest.raises(ConfigError, match="metadatas: 1 for 2"):
        store.add_texts(["a", "b"], [{}])


def test_without_a_path_the_store_stands_in_a_folder_that_goes_with_it() -> None:
    documents = [Document(page_content="the pump", id="p"), Document(page_content="the cat", metadata={"n": 1})]
    store = LocalVectorStore.from_documents(documents, HashingEmbedder())
    folder = store.index.path
    assert [d.id for d in store.similarity_search("the pump", k=1)] == ["p"]
    retriever = store.as_retriever(search_kwargs={"k": 1})
    del store
    assert retriever.invoke("cat")[0].metadata == {"n": 1}
    del retriever
    gc.collect()
    assert not folder.exists()


async def test_without_a_path_the_same_is_true_of_texts_and_without_blocking() -> None:
    store = await LocalVectorStore.afrom_texts(["the pump", "the cat"], HashingEmbedder(), [{"n": 0}, {"n": 1}])
    assert (await store.asimilarity_search("cat", k=1))[0].metadata == {"n": 1}
    assert LocalVectorStore.from_texts([], HashingEmbedder()).similarity_search("cat") == []


def test_keys_of_metadata_that_are_no_strings_are_stored_as_strings(store: LocalVectorStore) -> None:
    store.add_texts(["the pump"], [{1: 2, "n": {3: "x"}}], ids=["a"])
    assert store.get_by_ids(["a"])[0].metadata == {"1": 2, "n": {"3": "x"}}
    assert [d.id for d in store.similarity_search("pump", filter={"1": 2})] == ["a"]
    assert [d.id for d in store.similarity_search("pump", filter={"n.3": "x"})] == ["a"]
