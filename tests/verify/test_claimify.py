"""Claims by a chat model, with quotes and coverage checked in code."""

from __future__ import annotations

from typing import Any

from rag_app.verify import Verifier
from rag_app.verify.claimify import ExtractedClaim, Extraction

SOURCES = ["The ferry to Skerry Island leaves twice a day.", "The bridge at Karrow opened in 1987."]
TEXT = "It leaves twice a day [1]. The bridge at Karrow opened in 1987 [2]."


class Scripted:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def with_structured_output(self, schema: Any) -> Scripted:
        return self

    def invoke(self, messages: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def report(answer: Any):
    return Verifier(claimify=True, chat_model=Scripted(answer)).invoke({"text": TEXT, "documents": SOURCES})


def test_a_clear_claim_is_checked_and_keeps_its_span_and_citation() -> None:
    claim = ExtractedClaim(claim="The ferry to Skerry Island leaves twice a day.", quote="It leaves twice a day")
    found = report(Extraction(claims=[claim]))
    first = found.verdicts[0]
    assert (first.label, first.claim.citations) == ("supported", (1,))
    assert TEXT[slice(*first.claim.span)] == "It leaves twice a day"


def test_a_sentence_that_the_model_passes_over_is_still_checked() -> None:
    assert len(report(Extraction(claims=[])).verdicts) == 2


def test_a_claim_with_an_invented_quote_is_dropped_with_a_warning() -> None:
    found = report(Extraction(claims=[ExtractedClaim(claim="Cats fly.", quote="Cats fly")]))
    assert len(found.verdicts) == 2
    assert "Cats fly" in found.warnings[0]


def test_a_call_that_fails_leaves_the_statements() -> None:
    found = report(TimeoutError("slow"))
    assert len(found.verdicts) == 2
    assert "slow" in found.warnings[0]
