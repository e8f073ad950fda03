"""What each stage ranked, and why a chunk came back or did not.

A stage never touches its input; it hands on new documents in a `Ranked` list, whose `trace` has one ranking more. A
plain list of documents (from a foreign retriever) is a `Ranked` list without history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.documents import Document

from rag_app.types import Hit

RULES = ("below threshold", "beyond top_k", "beyond max_candidates", "filtered", "merged", "duplicate", "over budget")


@dataclass(frozen=True, slots=True)
class Removal:
    """A chunk that a stage did not hand on: `rule` is one of RULES, `detail` has the numbers."""

    chunk_id: str
    stage: str
    rule: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalTrace:
    """The rankings of one question, in the order in which they were made.

    `rankings` maps a stage ("bm25", "dense", "rrf", "rerank", ...) to its hits, best first. `parameters` keeps what a
    stage was run with (the weights and k of a fusion, a threshold), `queries` what was asked when it was not the
    question itself, `timings` seconds per stage.
    """

    question: str = ""
    rankings: Mapping[str, tuple[Hit, ...]] = field(default_factory=dict)
    removed: tuple[Removal, ...] = ()
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    queries: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)

    def add(
        self,
        stage: str,
        hits: Iterable[Hit] | None = None,
        *,
        removed: Iterable[Removal] = (),
        parameters: Mapping[str, Any] | None = None,
        queries: Iterable[str] = (),
        warnings: Iterable[str] = (),
        seconds: float | None = None,
    ) -> RetrievalTrace:
        """A new trace with what `stage` found; this one stays as it was."""
        return replace(
            self,
            rankings=self.rankings if hits is None else {**self.rankings, stage: tuple(hits)},
            removed=(*self.removed, *removed),
            parameters=self.parameters if parameters is None else {**self.parameters, stage: dict(parameters)},
            queries=(*self.queries, *queries),
            warnings=(*self.warnings, *warnings),
            timings=self.timings if seconds is None else {**self.timings, stage: seconds},
        )

    def merge(self, other: RetrievalTrace) -> RetrievalTrace:
        """Both traces in one; where both ranked under one name, `other` wins."""
        return RetrievalTrace(
            question=self.question or other.question,
            rankings={**self.rankings, **other.rankings},
            removed=(*self.removed, *other.removed),
            parameters={**self.parameters, **other.parameters},
            queries=(*self.queries, *other.queries),
            warnings=(*self.warnings, *other.warnings),
            timings={**self.timings, **other.timings},
        )

    def stages(self, chunk_id: str) -> dict[str, dict[str, float | int]]:
        """`{"bm25": {"rank": 1, "score": 7.2}, ...}`: where the chunk stood in each stage that ranked it."""
        return {
            stage: {"rank": hit.rank, "score": hit.score}
            for stage, hits in self.rankings.items()
            for hit in hits
            if hit.chunk_id == chunk_id
        }

    def removal(self, chunk_id: str) -> Removal | None:
        """The last rule that removed the chunk; None when no rule did."""
        return next((r for r in reversed(self.removed) if r.chunk_id == chunk_id), None)


class Ranked(list[Document]):
    """Documents, best first, with the trace of how they came: a list wherever LangChain wants a list.

    Each document's `metadata["stages"]` has its rank and score in every stage so far, as plain numbers.
    """

    def __init__(self, documents: Iterable[Document] = (), trace: RetrievalTrace | None = None) -> None:
        super().__init__(documents)
        self.trace = trace if trace is not None else RetrievalTrace()


def trace_of(documents: Sequence[Document], question: str = "") -> RetrievalTrace:
    """The trace that the list carries; for a plain list, one rebuilt from `metadata["stages"]` where it is there."""
    if isinstance(documents, Ranked):
        return documents.trace
    rankings: dict[str, list[Hit]] = {}
    for document in documents:
        for stage, place in (document.metadata.get("stages") or {}).items():
            rankings.setdefault(stage, []).append(Hit(str(document.id), float(place["score"]), int(place["rank"])))
    return RetrievalTrace(question, {s: tuple(sorted(hits, key=lambda h: h.rank)) for s, hits in rankings.items()})


def rank(scores: Mapping[str, float]) -> tuple[Hit, ...]:
    """Hits in order of score; ties break by chunk id, so that a run is the same on every machine."""
    order = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Hit(chunk_id, float(score), place) for place, (chunk_id, score) in enumerate(order, start=1))


def annotate(documents: Iterable[Document], trace: RetrievalTrace) -> list[Document]:
    """`with_stages` for many documents, reading each ranking once."""
    listed = list(documents)
    places: dict[str, dict[str, dict[str, float | int]]] = {str(document.id): {} for document in listed}
    for stage, hits in trace.rankings.items():
        for hit in hits:
            found = places.get(hit.chunk_id)
            if found is not None:
                found[stage] = {"rank": hit.rank, "score": hit.score}
    return [
        document.model_copy(update={"metadata": {**document.metadata, "stages": places[str(document.id)]}})
        for document in listed
    ]


def with_stages(document: Document, trace: RetrievalTrace) -> Document:
    """A copy of the document whose `metadata["stages"]` says where it stood; the original belongs to the index."""
    return document.model_copy(
        update={"metadata": {**document.metadata, "stages": trace.stages(str(document.id))}},
    )
