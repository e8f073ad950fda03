"""The arithmetic under the rankings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.index.local.ranking import candidates, products_at, products_of

CHANCE = np.random.default_rng(0)
VECTORS = CHANCE.standard_normal((1200, 16), dtype=np.float32)
QUERIES = CHANCE.standard_normal((9, 16), dtype=np.float32)


@pytest.mark.parametrize("number", [0, 1, 4, 5, 9])
def test_products_are_those_of_double_precision_for_few_queries_and_for_many(number: int) -> None:
    found = list(products_of(VECTORS, QUERIES[:number]))
    true = QUERIES[:number].astype(np.float64) @ VECTORS.astype(np.float64).T
    assert len(found) == number
    for scores, expected in zip(found, true, strict=True):
        np.testing.assert_allclose(scores, expected, atol=1e-5)


@pytest.mark.parametrize("number", [0, 1, 511, 512, 1100])
def test_products_at_rows_are_the_products_of_those_rows(number: int) -> None:
    rows = np.sort(CHANCE.choice(len(VECTORS), number, replace=False))
    np.testing.assert_allclose(products_at(VECTORS, rows, QUERIES[0]), VECTORS[rows] @ QUERIES[0], atol=1e-5)


@given(st.integers(0, 5000), st.integers(1, 40), st.integers(1, 50), st.sampled_from([0.0, 0.5, 3.0]))
def test_the_k_best_are_among_the_candidates_with_all_that_slack_may_lift(
    n: int, k: int, kinds: int, slack: float
) -> None:
    scores = np.random.default_rng(n).integers(0, kinds, n).astype(np.float64)
    rows = candidates(scores, k, slack=slack)
    assert rows.tolist() == sorted(set(rows.tolist()))
    least = np.sort(scores)[-k] if n >= k else -np.inf
    assert set(np.flatnonzero(scores >= least - slack).tolist()) <= set(rows.tolist())
    above = candidates(scores, k, above=0.0)
    assert (scores[above] > 0).all()
    assert np.sort(scores[above])[::-1][:k].tolist() == [s for s in np.sort(scores)[::-1][:k].tolist() if s > 0]
