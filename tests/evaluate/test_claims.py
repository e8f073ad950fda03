"""Measures of verdicts against labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.evaluate.claims import (
    area_under,
    auroc,
    balanced_accuracy,
    baseline_report,
    calibrated_threshold,
    claim_report,
    risk_coverage,
)


def test_balanced_accuracy_is_the_mean_of_both_recalls() -> None:
    labels = np.array([1, 1, 1, 1, 0, 0], dtype=bool)
    supported = np.array([1, 1, 1, 0, 1, 0], dtype=bool)
    assert balanced_accuracy(supported, labels) == 100 * (3 / 4 + 1 / 2) / 2


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=2, max_size=30))
@settings(max_examples=40)
def test_auroc_counts_pairs(rows: list[tuple[bool, int]]) -> None:
    positive = [score for label, score in rows if label]
    negative = [score for label, score in rows if not label]
    found = auroc(np.array([float(s) for _, s in rows]), np.array([label for label, _ in rows]))
    if not positive or not negative:
        assert np.isnan(found)
    else:
        pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
        assert abs(found - 100 * sum(pairs) / len(pairs)) < 1e-9


def test_always_supported_scores_fifty_and_nothing_is_nan() -> None:
    report = claim_report([1, 0, 1, 0], ["supported"] * 4, [1.0] * 4)
    assert report["balanced_accuracy"].value == 50.0
    assert report["precision_unsupported"].value is None
    assert claim_report([], [], [])["auroc"].value is None
    assert baseline_report([1, 1], {"x": [0.1, 0.2]}) == {}


def test_the_interval_holds_the_value() -> None:
    measure = claim_report([1, 0] * 20, ["supported", "not_found"] * 15 + ["supported"] * 10, [0.5] * 40)
    accuracy = measure["balanced_accuracy"]
    assert accuracy.low <= accuracy.value <= accuracy.high


def test_a_risk_coverage_curve_goes_from_the_surest_claim_to_all() -> None:
    steps = risk_coverage([0.9, 0.8, 0.7, 0.7], [1, 0, 1, 1])
    assert [(s.threshold, s.coverage, s.risk) for s in steps] == [(0.9, 0.25, 0.0), (0.8, 0.5, 0.5), (0.7, 1.0, 0.25)]
    assert area_under(steps) == pytest.approx(0.25 * 0 + 0.25 * 0.5 + 0.5 * 0.25)
    assert area_under([]) is None


def test_a_calibrated_threshold_separates_what_can_be_separated() -> None:
    scores, labels = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9] * 5, [0, 0, 0, 1, 1, 1] * 5
    found = calibrated_threshold(scores, labels)
    assert 0.3 < found["threshold"] <= 0.7
    assert found["balanced_accuracy"] == found["held_out"] == 100.0
    with pytest.raises(ValueError, match="same label"):
        calibrated_threshold([0.5, 0.6], [1, 1])
