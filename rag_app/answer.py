"""The Answer: text, citations, verdicts and the trace in one self-contained record that survives JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_app.trace import RetrievalTrace
from rag_app.types import Citation, ConfigError, Verdict, dumps, from_json, to_json

ABSTENTION_REASONS = (
    "no_candidates",
    "filter_matched_nothing",
    "below_threshold",
    "budget",
    "model_declined",
    "claims_unsupported",
    "sources_conflict",
)
ABSTENTION = "I don't have enough information to answer this question."
"""What an abstaining answer says, unless the settings say otherwise."""
CONFLICT_WARNING = "the sources disagree"
"""How the warning begins that names the passages of an answer that disagree."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered piece of evidence as the synthesizer saw it: `text` is the document's text from `start` to `end`."""

    number: int
    chunk_id: str
    source: str
    start: int
    end: int
    text: str
    title: str | None = None
    page: int | None = None
    section_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked, what was answered, and everything needed to check it, without the index at hand.

    `citations` resolve the markers of `text`; `verdicts` judge its claims; `evidence` are the numbered passages;
    `trace` has every ranking. `abstained` answers have a reason of ABSTENTION_REASONS and no citations. `confidence`
    is the calibrated chance, in [0, 1], that the answer is right; of an abstention, that the evidence had the answer
    (0 without evidence; None only where there is no question to tell it from), or, where a text was judged and
    withdrawn, that this was right: its verdicts stay, with spans in the withdrawn text, which is `report["withdrawn"]`.
    `report` has the shares of the verification (groundedness, citation recall, ...); `timings` are seconds per stage.
    """

    question: str
    text: str
    citations: tuple[Citation, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    trace: RetrievalTrace = field(default_factory=RetrievalTrace)
    evidence: tuple[Passage, ...] = ()
    abstained: bool = False
    abstention_reason: str | None = None
    warnings: tuple[str, ...] = ()
    phantoms: tuple[str, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    report: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line of JSON; the same answer gives the same bytes."""
        return dumps(self)

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        value: dict[str, Any] = to_json(self)
        return value

    @classmethod
    def from_json(cls, text: str) -> Answer:
        """The answer that `to_json` wrote; ConfigError when the text is something else."""
        try:
            return from_json(cls, json.loads(text))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"this is no answer's JSON ({error}); give what Answer.to_json wrote") from None

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from rag_app.html import answer_html

        return answer_html(self)
