"""Answers made of the evidence's own sentences, each with its marker; offline, and honest about what is missing."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from pydantic import Field

from rag_app.synthesize.base import Draft, Synthesizer, citation_of, joined, shown
from rag_app.synthesize.packing import pack
from rag_app.synthesize.relevance import SIGNALS, Embed, Unit, signals, units_of
from rag_app.trace import Ranked

Table = np.ndarray[Any, Any]
_LACKS = [SIGNALS.index(name) for name in ("type_missing", "measure_missing", "asks")]


@dataclass(frozen=True, slots=True)
class Weights:
    """Two linear models over SIGNALS: which sentence answers best, and whether that one answers at all."""

    rank: tuple[float, ...]
    decide: tuple[float, ...]
    intercept: float

    def ranks(self, table: Table) -> list[float]:
        """The score of each row of signals; the exponential of a difference is the odds of one over the other."""
        return [float(score) for score in table @ np.asarray(self.rank)]

    def chance(self, row: Table) -> float:
        """The chance that the sentence with this row of signals answers, in (0, 1)."""
        score = self.intercept + float(row @ np.asarray(self.decide))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


class ExtractiveSynthesizer(Synthesizer):
    """Answers with the sentences that answer the question best, verbatim, or abstains when none does.

    A linear model over signals (`relevance.SIGNALS`) ranks the sentences of a question; a logistic one, fitted on
    answerable questions and on ones made unanswerable, says whether the first of them answers: the draft's confidence.
    """

    kind: Literal["extractive"] = "extractive"
    max_sentences: int = Field(default=3, ge=1, description="How many sentences an answer has at most.")
    threshold: float | None = Field(
        default=None, ge=0, le=1, description="The least confidence that is answered; null for the calibrated one."
    )
    margin: float = Field(
        default=0.75, ge=0, le=1, description="How far below the best sentence's odds one that joins the answer may be."
    )
    max_passages: int = Field(default=8, ge=1, description="How many passages are read.")
    embeddings: Embeddings | None = Field(default=None, exclude=True, repr=False)

    def draft(self, inputs: Mapping[str, Any]) -> Draft:
        """The best sentences with their markers; an abstention below the threshold."""
        question = inputs["question"]
        evidence = pack(inputs["evidence"], budget=None)
        embed = embedding_of(self.embeddings)
        found = best_units(question, evidence[: self.max_passages], inputs.get("candidates") or (), embed)
        least = calibration(embed is not None)[1] if self.threshold is None else self.threshold
        if not found.ranked or found.chance < least:
            return self.abstain(
                question, "below_threshold", confidence=found.chance, evidence=tuple(evidence), trace=evidence.trace
            )
        chosen = choose(found.ranked, found.lacks, self.max_sentences, self.margin)
        return self.settle(write(question, chosen, evidence, found.chance))


@dataclass(frozen=True, slots=True)
class Found:
    """The units of some evidence with their scores, best first; whether each lacks the kind of answer that is asked
    for; and the chance in [0, 1] that the first one answers.
    """

    ranked: list[tuple[float, Unit]]
    lacks: list[bool]
    chance: float


def best_units(
    question: str, evidence: Sequence[Document], candidates: Sequence[Document] = (), embed: Embed | None = None
) -> Found:
    """What answers the question best; without units, nothing, by no chance."""
    units = units_of(evidence)
    weights, _ = calibration(embed is not None)
    table = signals(question, evidence, units, candidates=candidates, embed=embed)
    order = sorted(zip(weights.ranks(table), range(len(units)), strict=True), key=lambda pair: (-pair[0], pair[1]))
    return Found(
        [(score, units[place]) for score, place in order],
        [bool(table[place, _LACKS].any()) for _, place in order],
        weights.chance(table[order[0][1]]) if order else 0.0,
    )


def choose(ranked: Sequence[tuple[float, Unit]], lacks: Sequence[bool], most: int, margin: float) -> list[Unit]:
    """The best units, best first: those with odds near the best one's, without near-repeats.

    A unit that `lacks` the kind of answer that the best one has, or that is a question, does not join it.
    """
    chosen: list[Unit] = []
    seen: list[tuple[set[str], int]] = []
    for (score, unit), lacking in zip(ranked, lacks, strict=True):
        if len(chosen) == most or math.exp(score - ranked[0][0]) < 1 - margin:
            break
        words = set(re.findall(r"\w+", unit.text.casefold()))
        if (chosen and lacking and not lacks[0]) or any(_repeats(words, unit.number, *one) for one in seen):
            continue
        seen.append((words, unit.number))
        chosen.append(unit)
    return chosen


def _repeats(words: set[str], number: int, before: set[str], passage: int) -> bool:
    """Whether nearly all of the shorter one's words are in the other; equal sentences of two passages both stay."""
    shared = len(words & before) / max(1, min(len(words), len(before)))
    return shared >= 0.9 and (number == passage or words != before)


def write(question: str, units: Sequence[Unit], evidence: Ranked, confidence: float) -> Draft:
    """The draft of chosen units: each verbatim with its marker."""
    sentences = [f"{shown(unit.text)} [{unit.number}]" for unit in units]
    text = joined([sentence if sentence[0] not in "|-*#" else f"\n{sentence}\n" for sentence in sentences]).strip()
    citations = tuple(citation_of(unit, evidence[unit.number - 1]) for unit in units)
    return Draft(question, text, citations, (), tuple(evidence), confidence=confidence, trace=evidence.trace)


def embedding_of(embeddings: Embeddings | None) -> Embed | None:
    """Unit rows for texts from any LangChain embeddings."""
    if embeddings is None:
        return None
    encode = getattr(embeddings, "encode", None)
    if encode is not None:
        return lambda texts, query: encode(texts, query=query)

    def embed(texts: list[str], query: bool) -> np.ndarray[Any, Any]:
        rows = [embeddings.embed_query(text) for text in texts] if query else embeddings.embed_documents(texts)
        vectors = np.asarray(rows, dtype=np.float32)
        unit: np.ndarray[Any, Any] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return unit

    return embed


@functools.lru_cache(maxsize=2)
def calibration(with_vectors: bool) -> tuple[Weights, float]:
    """The fitted weights and the calibrated threshold, with or without an embedding model."""
    text = resources.files("rag_app.synthesize").joinpath("extractive.json").read_text(encoding="utf-8")
    fitted = json.loads(text)["vectors" if with_vectors else "words"]
    rank, decide = (tuple(fitted[part].get(name, 0.0) for name in SIGNALS) for part in ("rank", "decide"))
    return Weights(rank, decide, fitted["intercept"]), fitted["threshold"]
