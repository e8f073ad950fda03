"""Token vectors are made once for each passage, and the cache keeps within its budget."""

from __future__ import annotations

import numpy as np

from rag_app.rerank.token_cache import TokenCache


class Encoder:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str]) -> list[np.ndarray]:
        self.asked += texts
        return [np.full((len(text), 4), 0.5) for text in texts]


def test_a_passage_is_encoded_once() -> None:
    cache, encode = TokenCache(), Encoder()
    first = cache.get(["pump", "cat", "pump"], encode)
    again = cache.get(["cat", "valve"], encode)
    assert encode.asked == ["pump", "cat", "valve"]
    assert [len(v) for v in (*first, *again)] == [4, 3, 4, 3, 5]
    assert first[0].dtype == np.float32


def test_the_oldest_go_when_the_budget_is_spent() -> None:
    cache, encode = TokenCache(budget=2 * 8 * 4), Encoder()  # eight rows of four numbers, two bytes each
    cache.get(["aaaa", "bbbb"], encode)
    cache.get(["aaaa", "cccc"], encode)
    assert len(cache) == 2
    cache.get(["aaaa", "bbbb"], encode)
    assert encode.asked == ["aaaa", "bbbb", "cccc", "bbbb"]


def test_a_text_above_the_whole_budget_is_not_kept() -> None:
    cache, encode = TokenCache(budget=1), Encoder()
    assert len(cache.get(["long"], encode)[0]) == 4
    assert len(cache) == 0
