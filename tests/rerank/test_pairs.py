"""Whether two ways of computing keep one order, and what is done when they do not."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from scipy.stats import kendalltau

from rag_app.rerank import CrossEncoderReranker, pairs
from rag_app.rerank.pairs import PairScorer, agreement, kendall_tau
from rag_app.types import ConfigError, ModelError

numbers = st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True)


@given(numbers, st.randoms())
def test_kendalls_tau_is_scipys_where_nothing_is_equal(values: list[int], chance: Any) -> None:
    other = values[:]
    chance.shuffle(other)
    expected = kendalltau(values, other).statistic
    assert kendall_tau(np.array(values, float), np.array(other, float)) == pytest.approx(expected)


def test_what_the_reference_holds_for_equal_is_in_no_order() -> None:
    assert kendall_tau(np.zeros(4), np.array([3.0, 1.0, 2.0, 0.0])) == 1.0
    assert kendall_tau(np.array([1.0]), np.array([2.0])) == 1.0
    assert kendall_tau(np.array([1.0, 2.0]), np.array([1.5, 1.5])) == -1.0  # a tie where there was an order


def test_agreement_is_of_the_order_and_of_the_relevance() -> None:
    exact = np.array([[-4.0], [0.0], [4.0]])
    assert agreement(exact, exact) == 1.0
    assert agreement(exact, -exact) < 0
    assert agreement(exact, exact + 1) == pytest.approx(1 - (1 / (1 + math.exp(-1)) - 0.5))
    assert agreement(exact, exact * np.nan) == -1.0
    beside_the_point = np.array([[-11.0], [-11.05], [8.0]])
    assert agreement(beside_the_point, np.array([[-11.04], [-11.0], [8.0]])) > 0.99
    assert agreement(beside_the_point, np.array([[-11.0], [8.0], [-11.0]])) < 0.4
    two = np.hstack([exact, exact])
    assert agreement(two, np.hstack([exact, -exact])) < 0


class Broken(PairScorer):
    """Gives NaN for one of a passage's windows, not the first."""

    labels: ClassVar[dict[int, str]] = {0: "relevance"}
    window = 20
    backend = "by heart"

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def logits(self, pairs: Sequence[tuple[str, str]], *, batch_size: int) -> Any:
        return np.array([[math.nan if place == 1 else 1.0] for place in range(len(pairs))], dtype=np.float32)


def test_nan_of_any_window_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_app.rerank.cross_encoder.load_pairs", lambda *_, **__: Broken())
    long = Document(id="long", page_content="pump " * 60)
    with pytest.raises(ModelError, match="long is nan"):
        CrossEncoderReranker().compress_documents([long], "pump")


def test_what_was_refused_on_loading_is_a_warning_of_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    class Noted(Broken):
        note = "bf16 was refused"

        def logits(self, pairs: Sequence[tuple[str, str]], *, batch_size: int) -> Any:
            return np.ones((len(pairs), 1), dtype=np.float32)

    monkeypatch.setattr("rag_app.rerank.cross_encoder.load_pairs", lambda *_, **__: Noted())
    found = CrossEncoderReranker().compress_documents([Document("pump")], "pump")
    assert found.trace.warnings == ("rerank: bf16 was refused",)


def test_torch_in_bf16_is_taken_where_the_order_is_kept_and_else_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exact(Broken):
        shift = 0.0

        def __init__(self, encoder: str, *, note: str = "") -> None:
            self.encoder, self.note = encoder, note

        def logits(self, pairs: Sequence[tuple[str, str]], *, batch_size: int) -> Any:
            rows = np.linspace(-5, 5, len(pairs), dtype=np.float32)[:, None]
            return rows if self.encoder == "float32" else rows[::-1] if self.shift else rows

    monkeypatch.setattr(pairs, "TorchPairs", Exact)
    monkeypatch.setattr(pairs, "load_cross_encoder", lambda model, *, dtype="float32", **_: dtype)
    monkeypatch.setattr(pairs, "has_bf16", lambda: True)
    monkeypatch.setattr(pairs, "has_gpu", lambda: False)
    kept: Any = pairs.load_pairs("any", backend="torch")
    assert (kept.encoder, kept.note) == ("bfloat16", "")
    Exact.shift = 1.0
    refused: Any = pairs.load_pairs("any", backend="torch")
    assert refused.encoder == "float32"
    assert "bf16 was refused" in refused.note
    named: Any = pairs.load_pairs("any", backend="torch", dtype="bfloat16")
    assert named.encoder == "bfloat16"


def test_a_model_with_code_of_its_own_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")

    def refuse(*_: Any, **__: Any) -> None:
        raise ValueError("Please pass the argument `trust_remote_code=True` to allow custom code to be run.")

    monkeypatch.setattr(sentence_transformers, "CrossEncoder", refuse)
    with pytest.raises(ConfigError, match=r"rerank\.trust_remote_code"):
        pairs.load_cross_encoder("jinaai/jina-reranker-v2-base-multilingual")


def test_many_first_callers_load_a_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []

    class Even(Broken):
        def logits(self, pairs: Sequence[tuple[str, str]], *, batch_size: int) -> Any:
            return np.ones((len(pairs), 1), dtype=np.float32)

    def load(*_: Any, **__: Any) -> Even:
        loads.append(1)
        time.sleep(0.05)
        return Even()

    monkeypatch.setattr("rag_app.rerank.cross_encoder.load_pairs", load)
    reranker = CrossEncoderReranker()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: reranker.compress_documents([Document("pump")], query), "abcd"))
    assert [len(each) for each in found] == [1] * 4
    assert len(loads) == 1
