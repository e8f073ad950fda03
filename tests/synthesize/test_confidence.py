"""How sure an answer is: what was quoted, what was written, what was refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel

from rag_app.synthesize import Draft, LLMSynthesizer
from rag_app.synthesize.confidence import SIGNS, calibration, evidence_chance, how_sure, quoted_chance, signs
from rag_app.types import Citation, Claim, Span, Verdict

PASSAGE = Document("The warranty of the pump is 24 months from the date of purchase.", id="p", metadata={"source": "a"})
OTHER = Document("Cats sleep a lot and purr when they are happy.", id="c", metadata={"source": "b"})
QUESTION = "How long is the warranty of the pump?"
shares = st.floats(0, 1)


def verdict(score: float, *citations: int, label: str = "supported", kind: str = "factual") -> Verdict:
    return Verdict(Claim("x", Span(0, 1), citations, kind), label, score, "lexical")


def written(chance: float | None = 0.5, **more: Any) -> Draft:
    citation = Citation(1, "p", "a", None, (), Span(0, 1), "x")
    return Draft(QUESTION, "x [1]", (citation,), confidence=chance, written=True, **more)


def test_evidence_about_the_question_is_likelier_to_answer_it() -> None:
    assert evidence_chance(QUESTION, [OTHER, PASSAGE]) > 0.5 > evidence_chance(QUESTION, [OTHER])
    assert evidence_chance(QUESTION, []) == 0.0


def test_a_quoted_answer_and_an_abstention_keep_the_confidence_of_the_draft() -> None:
    assert how_sure(replace(written(0.3), written=False), [verdict(1.0, 1)]) == 0.3
    assert how_sure(written(0.3, abstained=True), [verdict(1.0, 1)]) == 0.3
    assert how_sure(written(0.3), [verdict(1.0, kind="opinion")]) == 0.3


def test_the_signs_of_a_written_answer_are_worked_out_from_its_claims() -> None:
    known = signs(written(0.5), [verdict(1.0, 1), verdict(0.4), verdict(0.7, 1, label="contradicted")])
    assert known["support"] == pytest.approx((1.0 + 0.4 + 0.0) / 3)
    assert known["weakest"] == 0.0
    assert known["cited"] == pytest.approx(2 / 3)


def test_a_true_sentence_about_something_else_is_no_sure_answer() -> None:
    def quoting(number: int, passage: Document) -> Draft:
        text = passage.page_content
        citation = Citation(number, str(passage.id), "a", None, (), Span(0, len(text)), text)
        return Draft(QUESTION, f"{text} [{number}]", (citation,), (), (PASSAGE, OTHER), written=True)

    right, beside = quoting(1, PASSAGE), quoting(2, OTHER)
    assert quoted_chance(right) > 0.5 > quoted_chance(beside)
    sure, unsure = (how_sure(draft, [verdict(1.0, 1)]) for draft in (right, beside))
    assert sure is not None
    assert unsure is not None
    assert sure > unsure
    assert quoted_chance(replace(right, citations=())) == 0.0
    assert signs(replace(beside, question=""), [verdict(1.0, 1)])["quoted"] == 0.0


@given(st.lists(shares, min_size=1, max_size=4), shares, st.integers(0, 3))
def test_better_support_never_makes_less_sure(scores: list[float], more: float, place: int) -> None:
    place %= len(scores)
    raised = [max(score, more) if n == place else score for n, score in enumerate(scores)]
    before, after = (how_sure(written(), [verdict(score, 1) for score in each]) for each in (scores, raised))
    assert before is not None
    assert after is not None
    assert 0 < before <= after + 1e-9 < 1 + 1e-9


def test_no_weight_makes_a_good_sign_a_bad_one() -> None:
    weights = dict(calibration())
    weights.pop("intercept")
    assert set(weights) == {*SIGNS}
    assert min(weights.values()) >= 0


def test_a_chat_models_answer_and_its_refusals_have_a_confidence() -> None:
    def ask(reply: str, evidence: list[Document]) -> Draft:
        model = FakeListChatModel(responses=[reply])
        return LLMSynthesizer(chat_model=model).invoke({"question": QUESTION, "evidence": evidence})

    good, bad = ask("It is 24 months [1].", [PASSAGE]), ask("It is 24 months [1].", [OTHER])
    assert good.written
    assert good.confidence is not None
    assert bad.confidence is not None
    assert good.confidence > bad.confidence
    assert ask("I don't have enough information to answer this question.", [PASSAGE]).confidence == good.confidence
    assert ask("x", []).confidence == 0.0
