"""How sure an answer is: the chance that it is right, from what is known without another call to a model.

An extractive answer quotes, so that it is as sure as its evidence answers. What a model wrote may not be what the
evidence says: there the support of its claims counts too, once they are judged.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources

from langchain_core.documents import Document

from rag_app.synthesize.base import Draft
from rag_app.synthesize.extractive import best_units
from rag_app.synthesize.extractive import calibration as words_calibration
from rag_app.synthesize.relevance import Unit, signals, units_of
from rag_app.types import Citation, Verdict

_MOST_READ = 8

SIGNS = (
    "quoted",  # the chance that one of the cited sentences answers the question, as log odds
    "support",  # mean support of the claims
    "weakest",  # support of the least supported claim
    "cited",  # share of the claims that carry a citation
)


def evidence_chance(question: str, evidence: Sequence[Document]) -> float:
    """The chance in [0, 1] that a sentence of the first eight passages answers the question, told from its words."""
    return best_units(question, evidence[:_MOST_READ]).chance


def how_sure(draft: Draft, verdicts: Sequence[Verdict]) -> float | None:
    """The confidence of the answer, in [0, 1].

    Of an abstention, and of a text made of quotes, that of the draft: the chance that the evidence answers. Of a text
    that a model wrote, the calibrated chance that it is right, given that and its verdicts.
    """
    factual = [verdict for verdict in verdicts if verdict.claim.kind == "factual"]
    if draft.abstained or not draft.written or not factual:
        return draft.confidence
    weights = calibration()
    known = signs(draft, factual)
    return logistic(weights["intercept"] + sum(weights[name] * known[name] for name in SIGNS))


def signs(draft: Draft, factual: Sequence[Verdict]) -> dict[str, float]:
    """SIGNS of a written draft with at least one factual claim; without a question, nothing tells the chance."""
    support = [verdict.score if verdict.label != "contradicted" else 0.0 for verdict in factual]
    return {
        "quoted": log_odds(quoted_chance(draft) if draft.question.strip() else 0.5),
        "support": sum(support) / len(support),
        "weakest": min(support),
        "cited": sum(bool(verdict.claim.citations) for verdict in factual) / len(factual),
    }


def quoted_chance(draft: Draft) -> float:
    """The chance in [0, 1] that a sentence which the draft cites answers its question; 0 when it cites none."""
    evidence = draft.evidence[:_MOST_READ]
    units = units_of(evidence)
    table = signals(draft.question, evidence, units)
    weights, _ = words_calibration(False)
    cited = {place for place, unit in enumerate(units) for c in draft.citations if _is_of(unit, c)}
    return max((weights.chance(table[place]) for place in cited), default=0.0)


def _is_of(unit: Unit, citation: Citation) -> bool:
    return unit.number == citation.marker and (unit.text in citation.quote or citation.quote in unit.text)


def log_odds(chance: float) -> float:
    """The log odds of a chance, within those of 0.001 and 0.999."""
    chance = min(0.999, max(0.001, chance))
    return math.log(chance / (1 - chance))


def logistic(score: float) -> float:
    """Log odds as a chance, in (0, 1)."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


@functools.cache
def calibration() -> Mapping[str, float]:
    """The intercept and the weight of each of SIGNS."""
    text = resources.files("rag_app.synthesize").joinpath("written.json").read_text(encoding="utf-8")
    fitted: dict[str, float] = json.loads(text)["weights"]
    return fitted
