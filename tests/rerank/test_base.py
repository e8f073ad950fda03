"""What every reranker does with scores: order, blend, cut, budget, record; whatever made them."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_app.rerank import CrossEncoderReranker, NoReranker, Reranker, blended, z_scores
from rag_app.rerank.base import Scored
from rag_app.trace import Ranked, Removal
from rag_app.types import ModelError


def ids(documents: Any) -> list[str]:
    return [document.id for document in documents]


def rerank(table: Any, candidates: Any, scores: list[float], **fields: Any) -> Ranked:
    fields = {"threshold": None, "scale": "probability", **fields}
    return CrossEncoderReranker(encoder=table(scores), **fields).compress_documents(candidates, "pump")


def test_the_order_is_the_models_and_every_result_carries_its_score(table: Any, candidates: Any) -> None:
    found = rerank(table, candidates, [0.2, 0.1, 0.9, 0.3, 0.5])
    assert ids(found) == ["c3", "c5", "c4", "c1", "c2"]
    assert [d.metadata["relevance_score"] for d in found] == [0.9, 0.5, 0.3, 0.2, 0.1]
    assert found[0].metadata["stages"] == {
        "rrf": {"rank": 3, "score": 1 / 63},
        "rerank": {"rank": 1, "score": 0.9},
    }


def test_ties_break_by_id(table: Any, candidates: Any) -> None:
    assert ids(rerank(table, candidates[::-1], [0.5] * 5)) == ["c1", "c2", "c3", "c4", "c5"]


def test_below_the_threshold_nothing_goes_on_and_the_trace_says_so(table: Any, candidates: Any) -> None:
    found = rerank(table, candidates, [0.2, 0.1, 0.9, 0.3, 0.5], threshold=0.3)
    assert ids(found) == ["c3", "c5", "c4"]
    assert found.trace.removal("c1") == Removal("c1", "rerank", "below threshold", "0.200 < 0.3")


def test_top_n_cuts_after_the_threshold(table: Any, candidates: Any) -> None:
    found = rerank(table, candidates, [0.2, 0.1, 0.9, 0.3, 0.5], top_n=1)
    assert ids(found) == ["c3"]
    assert found.trace.removal("c5").rule == "beyond top_k"  # type: ignore[union-attr]


def test_at_most_max_candidates_are_scored(table: Any, candidates: Any) -> None:
    encoder = table([0.5] * 5)
    reranker = CrossEncoderReranker(encoder=encoder, max_candidates=2, threshold=None)
    found = reranker.compress_documents(candidates, "pump")
    assert encoder.asked == [2]
    assert found.trace.removal("c3").rule == "beyond max_candidates"  # type: ignore[union-attr]


def test_blending_adds_z_scores_of_the_fused_order_and_of_the_model(table: Any, candidates: Any) -> None:
    scores = [0.2, 0.1, 0.9, 0.3, 0.5]
    found = rerank(table, candidates, scores, blend=0.5)
    fused = z_scores([1 / (60 + i) for i in range(1, 6)])
    model = z_scores(scores)
    expected = sorted(range(5), key=lambda i: -(fused[i] + 0.5 * model[i]))
    assert ids(found) == [f"c{i + 1}" for i in expected]
    assert list(found.trace.rankings) == ["rrf", "cross-encoder", "rerank"]
    values = [hit.score for hit in found.trace.rankings["rerank"]]
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)


def test_a_blend_of_nothing_keeps_the_fused_order(table: Any, candidates: Any) -> None:
    assert ids(rerank(table, candidates, [0.1, 0.2, 0.3, 0.4, 0.5], blend=0)) == ["c1", "c2", "c3", "c4", "c5"]


def test_a_latency_budget_scores_fewer_candidates_and_says_so(table: Any, candidates: Any) -> None:
    class Slow(table):  # type: ignore[misc]
        def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
            time.sleep(0.01 * len(text_pairs))
            return [float(value) for value in super().score(text_pairs)]

    reranker = CrossEncoderReranker(encoder=Slow([0.5] * 5), threshold=None, max_latency_ms=1)
    found = reranker.compress_documents(candidates, "pump")
    assert len(found) == 4
    assert found.trace.removal("c5").rule == "over budget"  # type: ignore[union-attr]
    assert any("4 of 5 candidates fit into 1 ms" in warning for warning in found.trace.warnings)
    assert found.trace.timings["rerank"] > 0


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_an_error_that_names_the_chunk(table: Any, candidates: Any, bad: float) -> None:
    with pytest.raises(ModelError, match="c3"):
        rerank(table, candidates, [0.1, 0.1, bad, 0.1, 0.1])


def test_a_missing_score_is_an_error(table: Any, candidates: Any) -> None:
    class Short(table):  # type: ignore[misc]
        def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
            return [0.5]

    with pytest.raises(ModelError, match="1 scores for 5 candidates"):
        CrossEncoderReranker(encoder=Short([])).compress_documents(candidates, "pump")


def test_the_candidates_stay_as_they_were(table: Any, candidates: Any) -> None:
    before = [document.model_dump() for document in candidates]
    trace = candidates.trace
    rerank(table, candidates, [0.2, 0.1, 0.9, 0.3, 0.5])
    assert [document.model_dump() for document in candidates] == before
    assert candidates.trace is trace
    assert "rerank" not in trace.rankings


def test_no_candidates_give_no_evidence(table: Any) -> None:
    assert rerank(table, [], [0.5] * 5) == []


def test_documents_of_a_foreign_retriever_need_no_ids(table: Any) -> None:
    plain = [Document(page_content="Reset the pump."), Document(page_content="Cats sleep.")]
    found = rerank(table, plain, [0.1, 0, 0, 0.9, 0])
    assert [document.page_content for document in found] == ["Cats sleep.", "Reset the pump."]


def test_sync_and_async_agree(table: Any, candidates: Any) -> None:
    reranker = CrossEncoderReranker(encoder=table([0.2, 0.1, 0.9, 0.3, 0.5]), threshold=None)
    one = reranker.compress_documents(candidates, "pump")
    other = asyncio.run(reranker.acompress_documents(candidates, "pump"))
    assert list(one) == list(other)


def test_none_hands_on_the_first_as_they_are(candidates: Any) -> None:
    found = NoReranker(top_n=2).compress_documents(candidates, "pump")
    assert list(found) == list(candidates[:2])
    assert found.trace.removal("c3").rule == "beyond top_k"  # type: ignore[union-attr]


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8))
@settings(max_examples=50)
def test_z_scores_have_mean_0_and_deviation_1(values: list[float]) -> None:
    scores = z_scores(values)
    assert sum(scores) == pytest.approx(0, abs=1e-6)
    if any(scores):
        assert sum(score**2 for score in scores) / len(scores) == pytest.approx(1)


def test_blended_is_the_formula() -> None:
    assert blended([1, 3], [4, 2], 0.5) == [-1 + 0.5, 1 - 0.5]


def test_the_raw_scores_stand_in_the_trace_beside_the_relevance(table: Any, candidates: Any) -> None:
    logits = [8.0, -8.0, 1.0, -1.0, 3.0]
    found = rerank(table, candidates, logits, scale="logit")
    assert found.trace.parameters["rerank"]["raw"] == {f"c{i}": value for i, value in enumerate(logits, start=1)}
    probabilities = rerank(table, candidates, [0.2, 0.1, 0.9, 0.3, 0.5])
    assert "raw" not in probabilities.trace.parameters["rerank"]  # they are the relevance


def test_loading_a_model_is_not_charged_to_the_latency_budget(candidates: Any) -> None:
    class Lazy(Reranker):
        loaded: bool = False

        def prepare(self) -> None:
            if not self.loaded:
                time.sleep(0.2)
                self.loaded = True

        def score(self, query: str, documents: Any) -> Scored:
            self.prepare()
            values = tuple(0.5 for _ in documents)
            return Scored(values, values)

    assert len(Lazy(max_latency_ms=150).compress_documents(candidates, "pump")) == len(candidates)


def test_what_two_calls_used_is_added_up(candidates: Any) -> None:
    class Priced(Reranker):
        def score(self, query: str, documents: Any) -> Scored:
            values = tuple(0.5 for _ in documents)
            return Scored(
                values, values, (), {"input_tokens": len(documents), "input_token_details": {"cache_read": 1}}
            )

    found = Priced(max_latency_ms=1e6).compress_documents(candidates, "pump")
    assert found.trace.parameters["rerank"]["usage"] == {"input_tokens": 5, "input_token_details": {"cache_read": 2}}
