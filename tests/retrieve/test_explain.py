"""Any chunk can be accounted for: how it scored everywhere, and what kept it out."""

from __future__ import annotations

from typing import Any

import pytest

from rag_app.retrieve import BM25Retriever, HybridRetriever
from rag_app.retrieve.explain import explain
from rag_app.types import ConfigError


def chunk(index: Any, source: str) -> str:
    return next(c for c, d in index.chunks.items() if d.metadata["source"] == source)


def test_the_words_contributions_sum_to_the_bm25_score(index: Any) -> None:
    found: Any = HybridRetriever(index=index).invoke("closed valve of the pump")
    account = explain(index, found.trace, chunk(index, "valve.txt"))
    assert sum(account.words.values()) == pytest.approx(account.stages["bm25"]["score"])
    assert account.removed is None
    assert account.reason == "it came back"


def test_a_chunk_that_did_not_come_back_has_its_true_rank_and_the_rule(index: Any) -> None:
    found: Any = HybridRetriever(index=index, top_k=1, fetch_k=1).invoke("closed valve")
    account = explain(index, found.trace, chunk(index, "cats.txt"))
    assert account.stages["dense"]["rank"] > 1
    assert "bm25" not in account.stages
    assert account.removed is not None
    assert account.removed.rule == "beyond top_k"


def test_a_chunk_beyond_top_k_of_the_fusion_names_that_rule(index: Any) -> None:
    found: Any = HybridRetriever(index=index, top_k=1).invoke("closed valve")
    account = explain(index, found.trace, chunk(index, "pump.txt"))
    assert account.removed is not None
    assert (account.removed.stage, account.removed.rule) == ("rrf", "beyond top_k")


def test_a_filtered_chunk_names_the_filter(index: Any) -> None:
    condition = {"year": 2023}
    found: Any = BM25Retriever(index=index).invoke("pump", filter=condition)
    account = explain(index, found.trace, chunk(index, "pump.txt"), filter=condition)
    assert account.removed is not None
    assert account.removed.rule == "filtered"


def test_an_unknown_chunk_is_a_usage_error(index: Any) -> None:
    found: Any = BM25Retriever(index=index).invoke("pump")
    with pytest.raises(ConfigError, match="no chunk 'x'"):
        explain(index, found.trace, "x")
