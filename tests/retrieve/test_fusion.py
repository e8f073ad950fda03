"""Fusion is arithmetic: worked examples, and properties that hold for any rankings."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.retrieve.fusion import (
    distribution_based_score_fusion,
    linear_fusion,
    reciprocal_rank_fusion,
    scaling,
)

ids = st.text("abcdefgh", min_size=1, max_size=2)
rankings = st.lists(st.lists(ids, max_size=8), min_size=1, max_size=4)
arms = st.lists(st.dictionaries(ids, st.floats(-50, 50), max_size=8), min_size=1, max_size=4)


def test_reciprocal_rank_fusion_is_the_papers_formula() -> None:
    scores = reciprocal_rank_fusion([["a", "b"], ["b", "c"]])
    assert scores == {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}


def test_weights_multiply_each_rankings_share() -> None:
    assert reciprocal_rank_fusion([["a"], ["a"]], k=10, weights=[2, 0.5]) == {"a": 2 / 11 + 0.5 / 11}


def test_a_missing_document_gets_nothing_unless_missing_rank_is_set() -> None:
    assert reciprocal_rank_fusion([["a"], ["b"]]) == {"a": 1 / 61, "b": 1 / 61}
    scores = reciprocal_rank_fusion([["a"], ["b"]], missing_rank=100)
    assert scores == {"a": 1 / 61 + 1 / 160, "b": 1 / 61 + 1 / 160}


def test_a_duplicate_inside_one_ranking_votes_once_at_its_best_rank() -> None:
    scores = reciprocal_rank_fusion([["top", "dup", "dup", "dup"], []])
    assert scores == {"top": 1 / 61, "dup": 1 / 62}


def test_nothing_fused_is_nothing() -> None:
    assert reciprocal_rank_fusion([]) == {}
    assert linear_fusion([]) == {}
    assert linear_fusion([{}, {}]) == {}


def test_weights_must_fit_the_rankings() -> None:
    with pytest.raises(ValueError, match="zip"):
        reciprocal_rank_fusion([["a"]], weights=[1, 2])


def test_min_max_maps_worst_and_best_to_0_and_1() -> None:
    assert linear_fusion([{"a": 10.0, "b": 5.0, "c": 0.0}], weights=[1]) == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_max_divides_by_the_best_so_that_zero_stays_zero() -> None:
    assert linear_fusion([{"a": 8.0, "b": 2.0}], weights=[1], normalization="max") == {"a": 1.0, "b": 0.25}


def test_z_scores_are_squashed_by_the_logistic_function() -> None:
    scores = linear_fusion([{"a": 3.0, "b": 1.0}], weights=[1], normalization="z-score")
    assert scores["a"] == pytest.approx(1 / (1 + math.exp(-1)))
    assert scores["b"] == pytest.approx(1 / (1 + math.exp(1)))


def test_distribution_based_fusion_maps_three_deviations_to_0_and_1() -> None:
    scores = distribution_based_score_fusion([{"a": 3.0, "b": 1.0}], weights=[1])
    assert scores["a"] == pytest.approx((3 - (2 - 3)) / 6)
    assert scores["b"] == pytest.approx((1 - (2 - 3)) / 6)


def test_linear_weights_default_to_equal_shares() -> None:
    assert linear_fusion([{"a": 2.0, "b": 1.0}, {"b": 9.0, "c": 4.0}]) == {"a": 0.5, "b": 0.5, "c": 0.0}


def test_equal_scores_all_become_the_same_number() -> None:
    assert linear_fusion([{"a": 7.0, "b": 7.0}], weights=[1]) == {"a": 1.0, "b": 1.0}
    assert distribution_based_score_fusion([{"a": 7.0, "b": 7.0}], weights=[1]) == {"a": 0.5, "b": 0.5}


@given(rankings)
@settings(max_examples=50)
def test_fusing_a_ranking_alone_keeps_its_order(lists: list[list[str]]) -> None:
    single = list(dict.fromkeys(lists[0]))
    scores = reciprocal_rank_fusion([single])
    assert sorted(scores, key=lambda i: -scores[i]) == single


@given(rankings)
@settings(max_examples=50)
def test_the_order_of_the_rankings_does_not_matter(lists: list[list[str]]) -> None:
    forward, backward = reciprocal_rank_fusion(lists), reciprocal_rank_fusion(lists[::-1])
    assert forward.keys() == backward.keys()
    assert all(forward[i] == pytest.approx(backward[i]) for i in forward)


@given(arms, st.sampled_from(["min-max", "max", "z-score", "distribution"]))
@settings(max_examples=100)
def test_a_linear_score_lies_in_0_to_1(scores: list[dict[str, float]], normalization: str) -> None:
    fused = linear_fusion(scores, normalization=normalization)  # type: ignore[arg-type]
    assert all(-1e-9 <= value <= 1 + 1e-9 for value in fused.values())
    assert fused.keys() == {i for arm in scores for i in arm}


@given(st.dictionaries(ids, st.floats(-50, 50), min_size=1, max_size=8), st.sampled_from(["min-max", "max", "z-score"]))
@settings(max_examples=100)
def test_scaling_never_turns_an_order_around(scores: dict[str, float], normalization: str) -> None:
    scale = scaling(scores.values(), normalization)  # type: ignore[arg-type]
    values = [scale.apply(value) for value in sorted(scores.values())]
    assert values == sorted(values)
