"""Answers made of the evidence's own sentences, each with its marker; offline, and honest about what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from pydantic import Field

from rag_app.cite.align import quotable_units
from rag_app.synthesize.base import Draft, Synthesizer, draft_of
from rag_app.synthesize.packing import pack
from rag_app.synthesize.relevance import bag, question_terms
from rag_app.types import Span


class ExtractiveSynthesizer(Synthesizer):
    """Answers with the sentences that hold most of the question, or abstains when none holds enough."""

    kind: Literal["extractive"] = "extractive"
    max_sentences: int = Field(default=3, ge=1, description="How many sentences an answer has at most.")
    threshold: float = Field(default=0.45, ge=0, le=1, description="The least confidence that is answered.")
    embeddings: Embeddings | None = Field(default=None, exclude=True, repr=False)

    def draft(self, inputs: Mapping[str, Any]) -> Draft:
        question, evidence = inputs["question"], pack(inputs["evidence"], budget=None)
        units = [
            _Unit(number, span, span.slice(document.page_content), bag(span.slice(document.page_content)))
            for number, document in enumerate(evidence, start=1)
            for span in quotable_units(document.page_content)
        ]
        terms = question_terms(question, [unit.bag for unit in units])
        order = sorted(units, key=lambda unit: (-terms.cover(unit.bag), unit.number, unit.span))
        confidence = terms.cover(order[0].bag) if order else 0.0
        if confidence < self.threshold:
            return self.abstain(question, "below_threshold", confidence=confidence, evidence=tuple(evidence))
        best = [u for u in order[: self.max_sentences] if terms.cover(u.bag) >= 0.8 * confidence]
        return draft_of(question, write(best, evidence), evidence, confidence=confidence)


@dataclass(frozen=True, slots=True)
class _Unit:
    number: int
    span: Span
    text: str
    bag: set[str]


def write(units: Sequence[_Unit], evidence: Sequence[Document]) -> str:
    """The sentences, each with its marker."""
    return " ".join(f"{' '.join(unit.text.split())} [{unit.number}]" for unit in units)
