"""Measures: worked examples, and agreement with trec_eval."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.evaluate.measures import DEFAULT_MEASURES, mean, measure, per_query
from rag_app.types import ConfigError

QRELS = {"a": 2, "b": 1, "z": 1, "c": 0}
RANKING = ["x", "a", "c", "b"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nDCG@10", (2 / math.log2(3) + 1 / math.log2(5)) / (2 / 1 + 1 / math.log2(3) + 1 / math.log2(4))),
        ("nDCG@1", 0.0),
        ("MAP", (1 / 2 + 2 / 4) / 3),
        ("R@2", 1 / 3),
        ("R@100", 2 / 3),
        ("P@5", 2 / 5),
        ("RR@10", 1 / 2),
        ("RR@1", 0.0),
        ("Hit@2", 1.0),
    ],
)
def test_a_measure_is_its_formula(name: str, value: float) -> None:
    assert measure(name)(RANKING, QRELS) == pytest.approx(value)


def test_an_unknown_measure_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="nDCG"):
        measure("F@10")
    with pytest.raises(ConfigError, match="P@0"):
        measure("P@0")


def test_queries_without_a_relevant_document_do_not_count() -> None:
    values = per_query({"1": ["a"], "2": ["a"]}, {"1": {"a": 1}, "2": {"a": 0}, "3": {"a": 1}}, ["P@1"])
    assert values == {"P@1": {"1": 1.0, "3": 0.0}}
    assert mean(values["P@1"]) == 0.5
    assert mean({}) == 0.0


def test_the_measures_agree_with_trec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    generator = random.Random(5)
    documents = [f"d{i}" for i in range(60)]
    qrels, run, scores = {}, {}, {}
    for query in map(str, range(25)):
        qrels[query] = {d: generator.choice([-1, 0, 1, 2]) for d in generator.sample(documents, 20)}
        qrels[query]["d0"] = 1
        run[query] = generator.sample(documents, generator.randint(0, 50))
        scores[query] = {d: float(100 - rank) for rank, d in enumerate(run[query])}
    theirs = {"nDCG@10": "ndcg_cut_10", "MAP": "map", "R@10": "recall_10", "R@100": "recall_100", "P@5": "P_5"}
    evaluator = pytrec_eval.RelevanceEvaluator(
        {q: {d: g for d, g in rels.items() if g >= 0} for q, rels in qrels.items()}, set(theirs.values())
    )
    expected = evaluator.evaluate(scores)
    ours = per_query(run, qrels, DEFAULT_MEASURES)
    for name, their_name in theirs.items():
        for query in scores:
            value = expected[query][their_name] if query in expected and run[query] else 0.0
            assert ours[name][query] == pytest.approx(value, abs=1e-9), (name, query)


ids = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(ids, st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3)))
def test_every_measure_lies_in_0_to_1_and_the_ideal_ranking_has_ndcg_1(
    ranking: list[str], grades: dict[str, int]
) -> None:
    assert all(0 <= measure(name)(ranking, grades) <= 1 + 1e-9 for name in DEFAULT_MEASURES)
    if any(grade > 0 for grade in grades.values()):
        ideal = sorted(grades, key=lambda i: -grades[i])
        assert measure("nDCG@10")(ideal, grades) == pytest.approx(1)
