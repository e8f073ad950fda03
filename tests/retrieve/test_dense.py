"""Retrieval by vectors."""

from __future__ import annotations

from typing import Any

import pytest

from rag_app.retrieve import DenseRetriever


def test_scores_are_cosines_and_fall(index: Any) -> None:
    found = DenseRetriever(index=index, top_k=3).invoke("the water filter")
    scores = [document.metadata["stages"]["dense"]["score"] for document in found]
    assert found[0].metadata["source"] == "filter.txt"
    assert scores == sorted(scores, reverse=True)
    assert all(-1 <= score <= 1.0001 for score in scores)


def test_a_batch_ranks_as_single_queries_do(index: Any) -> None:
    retriever = DenseRetriever(index=index)
    questions = ["pump", "cats", "holiday"]
    for alone, together in zip([retriever.invoke(q) for q in questions], retriever.batch(questions), strict=True):
        assert [d.id for d in alone] == [d.id for d in together]
        for a, b in zip(alone, together, strict=True):
            assert a.metadata["stages"]["dense"]["score"] == pytest.approx(b.metadata["stages"]["dense"]["score"])
