"""Answers against gold: worked numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rag_app.answer import CONFLICT_WARNING, Answer
from rag_app.evaluate.answers import (
    GoldAnswer,
    answer_row,
    calibrate_answers,
    evaluate_answers,
    exact_match,
    holds_answer,
    read_gold,
    token_f1,
)
from rag_app.types import Citation, ConfigError, Span


def answer(text: str, quote: str | None = None, *, abstained: bool = False, confidence: float = 0.5) -> Answer:
    citations = (Citation(1, "c", "s", None, (), Span(0, len(quote)), quote),) if quote is not None else ()
    return Answer("q", text, citations, abstained=abstained, confidence=confidence)


def test_exact_match_and_f1_are_those_of_squad() -> None:
    assert exact_match("The 45 days!", ["45 days"]) == 1
    assert exact_match("45 weeks", ["45 days"]) == 0
    assert token_f1("it is 45 days", ["45 days", "a month"]) == pytest.approx(2 * 2 / (4 + 2))
    assert token_f1("nothing", []) == 0
    assert holds_answer("It is due after 45 days.", ["45 days"])
    assert not holds_answer("It is due after 145 days.", ["45 days"])
    assert holds_answer("压力为五十巴。", ["五十巴"])


def test_citation_precision_recall_and_abstention_are_counted() -> None:
    gold = read_gold(
        [
            {"id": 1, "question": "a", "answer": "45 days", "gold": [{"quote": "due after 45 days"}]},
            {"id": 2, "question": "b", "answers": ["red"], "passages": ["it is red"]},
            {"id": 3, "question": "c", "answer": "x", "passages": ["x y"]},
            {"id": 4, "question": "d", "answerable": False},
            {"id": 5, "question": "e", "answerable": False},
        ]
    )
    answers = {
        "a": answer("It is due after 45 days [1].", "It is due after 45 days.", confidence=0.9),
        "b": answer("It is blue [1].", "it is blue", confidence=0.8),
        "c": answer("no", abstained=True, confidence=0.2),
        "d": answer("no", abstained=True, confidence=0.1),
        "e": answer("It is y [1].", "y", confidence=0.7),
    }
    figures = evaluate_answers(answers.__getitem__, gold)
    assert figures["citation_precision"] == 1 / 2
    assert figures["citation_recall"] == 1 / 2
    assert figures["wrongly_refused"] == 1
    assert figures["wrongly_answered"] == 1
    assert figures["right"] == 2 / 5
    curve = [(step["coverage"], step["risk"], step["threshold"]) for step in figures["risk_coverage"]]
    assert curve == [
        (pytest.approx(1 / 5), 0.0, 0.9),
        (pytest.approx(2 / 5), 1 / 2, 0.8),
        (pytest.approx(3 / 5), pytest.approx(2 / 3), 0.7),
    ]


def test_what_is_refused_is_in_no_answers_risk() -> None:
    gold = [GoldAnswer("1", "a", ("x",), passages=("x",)), GoldAnswer("2", "b", answerable=False)]
    answers = {"a": answer("x [1]", "x", confidence=0.6), "b": answer("no", abstained=True, confidence=0.9)}
    figures = evaluate_answers(answers.__getitem__, gold)
    assert figures["risk_coverage"] == [{"coverage": 0.5, "risk": 0.0, "threshold": 0.6}]
    assert figures["right"] == 1


def test_markers_are_no_words_of_an_answer() -> None:
    gold = [GoldAnswer("1", "q", ("45 days",))]
    figures = evaluate_answers(lambda _: answer("45 days [1].", "45 days"), gold)
    assert (figures["exact_match"], figures["f1"]) == (1, 1)


def test_an_answer_may_be_written_in_several_ways() -> None:
    (gold,) = read_gold([{"question": "q", "answers": [["NYC", "New York"], "the city"]}])
    assert gold.answers == ("NYC", "New York", "the city")


def test_disagreement_is_counted_where_it_is_and_where_it_is_not() -> None:
    gold = [GoldAnswer(q, q, ("Tampa",), other_answers=("Glendale",)) for q in "abc"]
    gold += [GoldAnswer("d", "d", ("red",)), GoldAnswer("e", "e", ("red",))]
    named = {"warnings": (f"{CONFLICT_WARNING}: [1] and [2]",)}
    answers = {
        "a": replace(answer("In Tampa [1]. In Glendale [2]."), **named),
        "b": answer("In Glendale [2]."),
        "c": replace(answer("no", abstained=True), abstention_reason="below_threshold"),
        "d": replace(answer("red"), **named),
        "e": answer("red"),
    }
    assert evaluate_answers(answers.__getitem__, gold)["conflicts"] == {
        "disputed": 2,
        "named": 0.5,
        "both_versions": 0.5,
        "other_only": 0.5,
        "undisputed": 2,
        "falsely_named": 0.5,
    }


def test_a_threshold_is_found_for_each_reranker() -> None:
    def rows(kind: str, cut: float) -> list[dict[str, Any]]:
        gold = [GoldAnswer(str(n), str(n), answerable=n / 20 >= cut) for n in range(20)]
        return [answer_row(g, answer("x", confidence=int(g.id) / 20), reranker=kind) for g in gold]

    low, high = calibrate_answers([*rows("none", 0.5), *rows("cross-encoder", 0.25)])
    assert (low["reranker"], high["reranker"]) == ("cross-encoder", "none")
    assert 0.2 < low["threshold"] < 0.25 < 0.45 < high["threshold"] < 0.5
    assert high["settings"] == ["rerank.kind=none", f"synthesize.threshold={high['threshold']}"]
    with pytest.raises(ConfigError, match="some of both"):
        calibrate_answers(rows("none", 0.0))
    with pytest.raises(ConfigError, match="answerable"):
        calibrate_answers([{"confidence": 0.5}])


def test_nothing_to_measure_is_none_and_not_a_full_mark() -> None:
    figures = evaluate_answers(lambda _: answer("no", abstained=True), [GoldAnswer("1", "q", ("a",))])
    assert figures["citation_precision"] is None
    assert figures["support"] is None


def test_a_row_without_a_question_is_named() -> None:
    with pytest.raises(ConfigError, match="line 1"):
        read_gold([{"answer": "x"}])
