"""Answers against gold: worked numbers."""

from __future__ import annotations

import pytest

from rag_app.answer import Answer
from rag_app.evaluate.answers import GoldAnswer, evaluate_answers, exact_match, holds_answer, read_gold, token_f1
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
    assert figures["risk_coverage"][0] == {"coverage": 1 / 5, "risk": 0.0, "threshold": 0.9}
    assert figures["risk_coverage"][-1]["risk"] == 4 / 5


def test_nothing_to_measure_is_none_and_not_a_full_mark() -> None:
    figures = evaluate_answers(lambda _: answer("no", abstained=True), [GoldAnswer("1", "q", ("a",))])
    assert figures["citation_precision"] is None
    assert figures["support"] is None


def test_a_row_without_a_question_is_named() -> None:
    with pytest.raises(ConfigError, match="line 1"):
        read_gold([{"answer": "x"}])
