"""Retrieval by words."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from langchain_core.documents import Document

from rag_app.retrieve import BM25Retriever
from rag_app.types import ConfigError


def test_documents_that_share_no_word_with_the_query_never_come_back(index: Any) -> None:
    assert BM25Retriever(index=index, top_k=4).invoke("zzz qqq") == []


def test_each_result_carries_its_score(index: Any) -> None:
    found = BM25Retriever(index=index).invoke("holiday requests")
    assert [document.metadata["source"] for document in found] == ["holiday.txt"]
    assert found[0].metadata["stages"]["bm25"]["rank"] == 1


def test_the_retrievers_own_filter_and_the_calls_both_hold(index: Any) -> None:
    retriever = BM25Retriever(index=index, filter={"year": {"$gte": 2024}})
    assert [document.metadata["source"] for document in retriever.invoke("pump")] == ["pump.txt"]
    assert retriever.invoke("pump", filter={"year": 2023}) == []


def test_it_is_made_of_texts_or_documents_at_hand_and_takes_its_folder_along() -> None:
    retriever = BM25Retriever.from_texts(["the pump", "the cat"], [{"n": 0}, {"n": 1}], ids=["p", "c"], k=1)
    assert [(d.id, d.metadata["n"]) for d in retriever.invoke("cat")] == [("c", 1)]
    folder = retriever.index.path
    del retriever
    gc.collect()
    assert not folder.exists()
    documents = [Document(page_content="the pump"), Document(page_content="a cat", id="c")]
    assert [d.page_content for d in BM25Retriever.from_documents(documents).invoke("pump cat dog")]
    assert BM25Retriever.from_documents(documents).invoke("zzz") == []
    assert BM25Retriever.from_documents([]).invoke("pump") == []
    okapi = BM25Retriever.from_texts(["pump", "cat", "dog"], bm25_variant="okapi", bm25_params={"k1": 1.5, "b": 0.5})
    assert okapi.index.manifest["settings"]["bm25"]["k1"] == 1.5


def test_metadata_or_ids_that_do_not_fit_the_texts_are_refused() -> None:
    with pytest.raises(ConfigError, match="metadatas: 1 for 2 texts"):
        BM25Retriever.from_texts(["a", "b"], [{}])
    with pytest.raises(ConfigError, match="ids: 1 for 2 texts"):
        BM25Retriever.from_texts(["a", "b"], ids=["x"])
