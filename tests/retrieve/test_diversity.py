"""MMR and near-duplicates, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from rag_app.retrieve import HybridRetriever
from rag_app.retrieve.diversity import maximal_marginal_relevance, near_duplicates

ROWS = np.array([[1, 0], [0.999, 0.0447], [0, 1]], dtype=np.float32)


def test_a_near_duplicate_points_to_the_better_one() -> None:
    assert near_duplicates(ROWS, threshold=0.97) == {1: 0}
    assert near_duplicates(ROWS, threshold=0.9999) == {}


def test_mmr_takes_the_new_before_the_similar() -> None:
    assert maximal_marginal_relevance([1.0, 0.9, 0.5], ROWS, balance=0.5) == [0, 2, 1]
    assert maximal_marginal_relevance([1.0, 0.9, 0.5], ROWS, balance=1.0) == [0, 1, 2]
    assert maximal_marginal_relevance([1.0, 0.9, 0.5], ROWS, balance=0.5, k=2) == [0, 2]
    assert maximal_marginal_relevance([], ROWS[:0]) == []


def test_the_hybrid_retriever_leaves_near_duplicates_out_and_says_so(index: Any) -> None:
    texts = {"a.txt": "Reset the pump now.", "b.txt": "Reset the pump now.", "c.txt": "Cats sleep a lot."}
    copies = type(index)(texts)
    found: Any = HybridRetriever(index=copies, near_duplicates=0.99).invoke("reset pump")
    assert sorted(d.metadata["source"] for d in found) in (["a.txt", "c.txt"], ["b.txt", "c.txt"])
    (removal,) = found.trace.removed
    assert removal.rule == "duplicate"
    assert found[0].id in removal.detail


def test_mmr_orders_what_the_hybrid_retriever_returns(index: Any) -> None:
    texts = {"a.txt": "Reset the pump now.", "b.txt": "Reset the pump now!", "c.txt": "The pump needs oil."}
    copies = type(index)(texts)
    found: Any = HybridRetriever(index=copies, mmr=0.3).invoke("reset the pump", k=2)
    assert {d.metadata["source"] for d in found} != {"a.txt", "b.txt"}
    assert "mmr" in found.trace.rankings
