"""Paired tests agree with scipy's, and say luck where it is luck."""

from __future__ import annotations

import numpy as np
import pytest

from rag_app.evaluate.significance import bootstrap_interval, compare, holm, permutation_test


def test_few_differences_are_tested_exactly() -> None:
    # Of the 2^5 sign patterns of five equal differences, two are as extreme as the observed one.
    assert permutation_test([0.1] * 5) == pytest.approx(2 / 32)


def test_no_difference_has_p_1() -> None:
    assert permutation_test([]) == 1.0
    assert permutation_test([0.0, 0.0]) == 1.0


def test_the_permutation_test_agrees_with_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(3).normal(0.15, 1, size=60)
    theirs = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=10_000, rng=np.random.default_rng(1)
    ).pvalue
    assert permutation_test(list(values)) == pytest.approx(theirs, abs=0.02)


def test_the_bootstrap_interval_agrees_with_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(3).normal(0.15, 1, size=60)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(1)).confidence_interval
    assert bootstrap_interval(list(values)) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_a_comparison_is_b_less_a_over_shared_queries_and_deterministic() -> None:
    a = {str(i): 0.5 for i in range(30)}
    b = {str(i): 0.5 + 0.1 * (i % 3 != 0) for i in range(40)}
    found = compare(a, b, names=("old", "new"), measure="nDCG@10")
    assert found.difference == pytest.approx(0.1 * 20 / 30)
    assert (found.wins, found.losses, found.ties) == (20, 0, 10)
    assert found.ci[0] > 0
    assert found.p < 0.001
    assert found == compare(a, b, names=("old", "new"), measure="nDCG@10")


def test_holm_adjusts_for_several_tests() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
