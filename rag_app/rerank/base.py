"""What rerankers share: take candidates, score them against the question, blend, cut, and keep a record of it."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict, Field

from rag_app.trace import Ranked, Removal, RetrievalTrace, annotate, trace_of
from rag_app.types import Hit, ModelError


@dataclass(frozen=True, slots=True)
class Scored:
    """What a model said of some texts: `raw` in its own scale, `relevance` in [0, 1]; warnings and usage if any."""

    raw: tuple[float, ...]
    relevance: tuple[float, ...]
    warnings: tuple[str, ...] = ()
    usage: dict[str, Any] | None = None


def z_scores(values: Sequence[float]) -> list[float]:
    """(value - mean) / sd of the values themselves; all zero where they are equal."""
    if not values:
        return []
    mean, deviation = statistics.fmean(values), statistics.pstdev(values)
    return [(value - mean) / deviation if deviation > 1e-12 else 0.0 for value in values]


def blended(fused: Sequence[float], reranked: Sequence[float], weight: float) -> list[float]:
    """z(fused) + weight x z(reranked): a small model then refines an order it could spoil alone."""
    return [a + weight * b for a, b in zip(z_scores(fused), z_scores(reranked), strict=True)]


def sigmoid(value: float) -> float:
    """The logistic function, without overflow."""
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


class Reranker(BaseDocumentCompressor):
    """Scores candidates against the question and hands on the best as `Ranked` documents, copies of those given.

    `metadata["relevance_score"]` is the model's own judgment in [0, 1]; the threshold is about it. The order is the
    model's, or with `blend` that of `z(fused) + blend * z(model)`, where fused is the last ranking before this stage.
    The stage "rerank" has the score that made the order; where blended, the model's ranking stands under its kind.

    A model whose weight is 0 is not asked, unless a threshold is about its judgment: the order is that of the fusion,
    and the relevance is the fused score between 0 and the best candidate's.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    top_n: int | None = Field(default=8, ge=1, description="How many go on; null hands on all that were scored.")
    threshold: float | None = Field(default=None, ge=0, le=1, description="The least relevance that goes on.")
    max_candidates: int | None = Field(default=20, ge=1, description="How many candidates are scored.")
    blend: float | None = Field(default=None, ge=0, description="The model's weight over the fused score; null: alone.")
    max_latency_ms: float | None = Field(default=None, gt=0, description="Scores fewer candidates to keep this time.")

    @property
    def stage(self) -> str:
        """The name of the model's own ranking in the trace."""
        return str(getattr(self, "kind", "rerank"))

    def weight(self, trace: RetrievalTrace) -> float:
        """The model's weight over the fused score, for this question."""
        return self.blend or 0.0

    def score(self, query: str, documents: Sequence[Document]) -> Scored:
        """The model's word on each document, in order."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Load what is loaded when first needed, so that a latency budget is about scoring alone."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Ranked:
        started = time.perf_counter()
        trace = trace_of(documents, query)
        candidates, removed = self._candidates(documents)
        if not candidates:
            return Ranked(trace=trace.add("rerank", (), removed=removed))
        asked = self.blend is None or self.threshold is not None or self.weight(trace) > 0
        scored, left_out = self._within_budget(query, candidates) if asked else (_unasked(candidates, trace), [])
        removed += left_out
        candidates = candidates[: len(scored.raw)]
        order = self._order(candidates, scored, trace)
        ranking = tuple(Hit(str(candidates[i].id), value, rank) for rank, (i, value) in enumerate(order, start=1))
        kept, cut = self._cut([(candidates[i], scored.relevance[i]) for i, _ in order])
        warnings = scored.warnings + ((f"rerank: {left_out[0].detail}",) if left_out else ())
        if self.blend is not None and asked:
            trace = trace.add(self.stage, _own_ranking(candidates, scored))
        trace = trace.add(
            "rerank",
            ranking,
            removed=removed + cut,
            parameters=self._parameters(scored) | (_raw_scores(candidates, scored) if asked else {}),
            warnings=warnings,
            seconds=time.perf_counter() - started,
        )
        relevance = {str(c.id): value for c, value in zip(candidates, scored.relevance, strict=True)}
        return Ranked(
            [
                document.model_copy(
                    update={"metadata": {**document.metadata, "relevance_score": relevance[str(document.id)]}}
                )
                for document in annotate(kept, trace)
            ],
            trace,
        )

    def _candidates(self, documents: Sequence[Document]) -> tuple[list[Document], list[Removal]]:
        """The first `max_candidates` with an id each (their place, where they came without), and what was left.

        One that comes again has one vote. Another text under the same id is another candidate, and gets a number.
        """
        known: dict[str, Document] = {}
        for place, document in enumerate(documents, start=1):
            base = name = str(document.id or f"candidate-{place:04d}")
            count = 1
            while name in known and known[name].page_content != document.page_content:
                count += 1
                name = f"{base}#{count}"
            known.setdefault(name, document if document.id == name else document.model_copy(update={"id": name}))
        named = list(known.values())
        limit = len(named) if self.max_candidates is None else self.max_candidates
        detail = f"only the first {limit} candidates are reranked"
        return named[:limit], [Removal(str(d.id), "rerank", "beyond max_candidates", detail) for d in named[limit:]]

    def _within_budget(self, query: str, candidates: Sequence[Document]) -> tuple[Scored, list[Removal]]:
        """Scores of all candidates, or of as many as the time allows, judged by what the first four took."""
        if self.max_latency_ms is None or len(candidates) <= 4:
            return self._checked(query, candidates), []
        self.prepare()
        started = time.perf_counter()
        first = self._checked(query, candidates[:4])
        each = (time.perf_counter() - started) * 1000 / 4
        fitting = min(len(candidates), max(4, int(self.max_latency_ms / max(each, 1e-6))))
        rest = self._checked(query, candidates[4:fitting]) if fitting > 4 else Scored((), ())
        detail = f"{fitting} of {len(candidates)} candidates fit into {self.max_latency_ms:g} ms at {each:.1f} ms each"
        left_out = [Removal(str(d.id), "rerank", "over budget", detail) for d in candidates[fitting:]]
        return self.joined(first, rest), left_out

    def joined(self, first: Scored, rest: Scored) -> Scored:
        """The scores of two calls about one question as those of one."""
        warnings = tuple(dict.fromkeys(first.warnings + rest.warnings))
        usage = _sum(first.usage, rest.usage)
        return Scored(first.raw + rest.raw, first.relevance + rest.relevance, warnings, usage)

    def _checked(self, query: str, candidates: Sequence[Document]) -> Scored:
        scored = self.score(query, candidates)
        if len(scored.raw) != len(candidates) or len(scored.relevance) != len(candidates):
            raise ModelError(f"{self.stage}: {len(scored.raw)} scores for {len(candidates)} candidates")
        for document, value in zip(candidates, scored.raw, strict=True):
            if not math.isfinite(value):
                raise ModelError(
                    f"{self.stage}: the score of {document.id} is {value}; the model or its input is broken"
                )
        return scored

    def _order(self, candidates: Sequence[Document], scored: Scored, trace: RetrievalTrace) -> list[tuple[int, float]]:
        """Places of the candidates, best first, each with the score that put it there."""
        if self.blend is None:
            keys, shown = scored.raw, scored.relevance
        else:
            mixed = blended(_fused(candidates, trace), scored.raw, self.weight(trace))
            keys, shown = tuple(mixed), tuple(sigmoid(value) for value in mixed)
        places = sorted(range(len(candidates)), key=lambda i: (-keys[i], str(candidates[i].id)))
        return [(i, shown[i]) for i in places]

    def _cut(self, ordered: Sequence[tuple[Document, float]]) -> tuple[list[Document], list[Removal]]:
        kept: list[Document] = []
        removed: list[Removal] = []
        for document, relevance in ordered:
            if self.threshold is not None and relevance < self.threshold:
                detail = f"{relevance:.3f} < {self.threshold:g}"
                removed.append(Removal(str(document.id), "rerank", "below threshold", detail))
            elif self.top_n is not None and len(kept) >= self.top_n:
                removed.append(Removal(str(document.id), "rerank", "beyond top_k", f"only top_n = {self.top_n} go on"))
            else:
                kept.append(document)
        return kept, removed

    def _parameters(self, scored: Scored) -> dict[str, Any]:
        known = {"model": self.stage, "threshold": self.threshold, "top_n": self.top_n, "blend": self.blend}
        return known | ({"usage": scored.usage} if scored.usage else {})


def _raw_scores(candidates: Sequence[Document], scored: Scored) -> dict[str, Any]:
    """The model's own scores by chunk, where they are on another scale than the relevance."""
    if scored.raw == scored.relevance:
        return {}
    return {"raw": {str(c.id): value for c, value in zip(candidates, scored.raw, strict=True)}}


def _sum(first: dict[str, Any] | None, second: dict[str, Any] | None) -> dict[str, Any] | None:
    """What two calls used, counts added up; None where neither told."""
    if not first or not second:
        return first or second
    both = {**first, **second}
    for key in first.keys() & second.keys():
        a, b = first[key], second[key]
        if isinstance(a, int | float) and isinstance(b, int | float):
            both[key] = a + b
        elif isinstance(a, dict) and isinstance(b, dict):
            both[key] = _sum(a, b)
    return both


def _fused(candidates: Sequence[Document], trace: RetrievalTrace) -> list[float]:
    """The score of each candidate in the last ranking so far; where it has none, that of its place."""
    last = next(reversed(list(trace.rankings.values())), ())
    scores = {hit.chunk_id: hit.score for hit in last}
    if all(str(candidate.id) in scores for candidate in candidates):
        return [scores[str(candidate.id)] for candidate in candidates]
    return [1 / (60 + place) for place in range(1, len(candidates) + 1)]


def _unasked(candidates: Sequence[Document], trace: RetrievalTrace) -> Scored:
    """The fused scores in the model's place; the relevance is monotone in them, and 1 for the best."""
    fused = _fused(candidates, trace)
    low = min(0.0, *fused)
    reach = max(fused) - low
    return Scored(tuple(fused), tuple((value - low) / reach if reach > 0 else 0.0 for value in fused))


def _own_ranking(candidates: Sequence[Document], scored: Scored) -> tuple[Hit, ...]:
    order = sorted(range(len(candidates)), key=lambda i: (-scored.raw[i], str(candidates[i].id)))
    return tuple(Hit(str(candidates[i].id), scored.relevance[i], rank) for rank, i in enumerate(order, start=1))
