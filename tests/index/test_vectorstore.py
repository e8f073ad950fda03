"""The vector store, and what users found broken in others."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalVectorStore
from rag_app.types import ConfigError, EmbeddingError, IndexMismatchError


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


def test_a_retriever_made_of_the_store_takes_filters_and_thresholds(store: LocalVectorStore) -> None:
    store.add_texts(["red pump", "blue pump"], [{"color": "red"}, {"color": "blue"}])
    retriever = store.as_retriever(search_kwargs={"k": 5, "filter": {"color": "blue"}})
    assert [d.page_content for d in retriever.invoke("pump")] == ["blue pump"]
    diverse = store.as_retriever(search_type="mmr", search_kwargs={"k": 2})
    assert len(diverse.invoke("pump")) == 2


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


def test_a_batch_takes_one_filter_for_all_or_one_for_each_query(store: LocalVectorStore) -> None:
    store.add_texts(["red pump", "blue pump"], [{"color": "red"}, {"color": "blue"}], ids=["r", "b"])
    retriever = store.as_retriever(search_kwargs={"k": 1})

    def found(filter: Any) -> list[list[str | None]]:
        return [[d.id for d in documents] for documents in retriever.batch(["red", "blue"], filter=filter)]

    assert found({"color": "red"}) == [["r"], ["r"]]
    assert found([{"color": "blue"}, None]) == [["b"], ["b"]]
    assert found(({"color": "blue"}, {"color": "red"})) == [["b"], ["r"]]
    for wrong in ([], [{"color": "red"}], [None] * 3):
        with pytest.raises(ConfigError, match=rf"{len(wrong)} filters for 2 queries"):
            retriever.batch(["red", "blue"], filter=wrong)
    assert retriever.batch([], filter=[]) == []
    one = retriever.batch(["red", "blue"], filter=[{"$bad": 1}, None], return_exceptions=True)
    assert isinstance(one[0], ConfigError)
    assert [d.id for d in one[1]] == ["b"]


async def test_an_asynchronous_batch_has_the_filters_of_a_synchronous_one(store: LocalVectorStore) -> None:
    store.add_texts(["red pump", "blue pump"], [{"color": "red"}, {"color": "blue"}], ids=["r", "b"])
    retriever = store.as_retriever(search_kwargs={"k": 1})
    found = await retriever.abatch(["red", "blue"], filter=[{"color": "blue"}, {"color": "red"}])
    assert [[d.id for d in documents] for documents in found] == [["b"], ["r"]]
    with pytest.raises(ConfigError, match="1 filters for 2 queries"):
        await retriever.abatch(["red", "blue"], filter=[None])


def test_one_query_takes_one_filter(store: LocalVectorStore) -> None:
    store.add_texts(["red pump"], [{"color": "red"}])
    vector = HashingEmbedder().embed_query("red pump")
    for search in (
        lambda filter: store.similarity_search("red", filter=filter),
        lambda filter: store.similarity_search_with_relevance_scores("red", filter=filter),
        lambda filter: store.similarity_search_by_vector(vector, filter=filter),
        lambda filter: store.max_marginal_relevance_search("red", filter=filter),
        lambda filter: store.as_retriever().invoke("red", filter=filter),
    ):
        assert len(search({"color": "red"})) == 1
        assert search({"color": "blue"}) == []
        for wrong in ([{"color": "red"}], [], "red"):
            with pytest.raises(ConfigError, match="filter: expected an object"):
                search(wrong)


def test_a_keyword_that_may_be_meant_as_a_filter_is_not_passed_over(store: LocalVectorStore) -> None:
    store.add_texts(["red pump", "blue pump"])
    for search in (
        lambda: store.similarity_search("red", where={"color": "red"}),
        lambda: store.similarity_search_by_vector([1.0] * 256, filters={}),
        lambda: store.max_marginal_relevance_search("red", expr="x"),
        lambda: store.as_retriever(search_kwargs={"fliter": {}}).invoke("red"),
    ):
        with pytest.raises(ConfigError, match="there is no"):
            search()
    assert len(store.similarity_search("red", k=1, fetch_k=50)) == 1
    with pytest.raises(ConfigError, match="delete: there is no 'fliter'"):
        store.delete(fliter={"color": "red"})
    assert len(store.index) == 2
    assert store.delete(filter={"color": {"$exists": False}})
    assert len(store.index) == 0


def test_ids_are_text_in_the_order_asked_for(store: LocalVectorStore) -> None:
    assert store.add_texts(["one", "two", "again"], ids=["1", 2, "1"]) == ["1", "2", "1"]  # type: ignore[list-item]
    assert [d.page_content for d in store.get_by_ids(["2", "unknown", "1", "2"])] == ["two", "again", "two"]
    assert [d.id for d in store.get_by_ids([2])] == ["2"]  # type: ignore[list-item]
    names = store.add_documents([Document(page_content="own", id="own"), Document(page_content="new")])
    assert names[0] == "own"
    assert [d.id for d in store.get_by_ids(names)] == names
    mixed = store.add_texts(["given", "made"], ids=["given", None])  # type: ignore[list-item]
    assert mixed[0] == "given"
    assert len(set(mixed)) == 2
    for call in (store.get_by_ids, store.delete):
        with pytest.raises(ConfigError, match="the string 'own'"):
            call("own")  # type: ignore[arg-type]
    store.delete([2])  # type: ignore[list-item]
    assert store.get_by_ids(["2"]) == []


def test_what_one_thread_adds_stays_when_another_fails(store: LocalVectorStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(
                store.add_texts, [f"text {n} {i}" for i in range(20)], [{"n": object() if n % 3 == 0 else n}] * 20
            )
            for n in range(24)
        ]
    failed = [n for n, job in enumerate(jobs) if isinstance(job.exception(), ConfigError)]
    assert failed == list(range(0, 24, 3))
    assert len(store.index) == 20 * 16
    assert len(LocalVectorStore(HashingEmbedder(), store.index.path).index) == 20 * 16


def test_a_folder_an_index_or_a_model_of_another_kind_is_told(tmp_path: Path, store: LocalVectorStore) -> None:
    with pytest.raises(ConfigError, match="folder of an index, found a HashingEmbedder"):
        LocalVectorStore(str(tmp_path / "x"), HashingEmbedder())  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"expected an embedding model.*'name'"):
        LocalVectorStore("name", tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="not both"):
        LocalVectorStore(HashingEmbedder(), tmp_path / "x", index=store.index)
