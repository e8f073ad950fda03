"""Retrieval by words."""

from __future__ import annotations

from typing import Any

from rag_app.retrieve import BM25Retriever


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
