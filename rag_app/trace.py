"""What each stage ranked, and why a chunk came back or did not.

A stage never touches its input; it hands on new documents in a `Ranked` list, whose `trace` has one ranking more. A
plain list of documents (from a foreign retriever) is a `Ranked` list without history.
"""

from __future__ import annotations

import html
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.documents import Document

from rag_app.types import Hit, MissingExtraError

RULES = ("below threshold", "beyond top_k", "beyond max_candidates", "filtered", "merged", "duplicate", "over budget")
# Of what a fusion notes about itself: mappings by the name of the arm.
_BY_ARM = frozenset({"weights", "scaling", "completed"})


@dataclass(frozen=True, slots=True)
class Removal:
    """A chunk that a stage did not hand on: `rule` is one of RULES, `detail` has the numbers."""

    chunk_id: str
    stage: str
    rule: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of one chunk; `str()` is the account for a person.

    `stages` has rank and score where a stage ranked the chunk, `depths` how many each stage ranked, `terms` the shares
    of a fused score by arm, `words` the contribution of each query word to the BM25 score (they sum to it).
    """

    chunk_id: str
    stages: Mapping[str, Mapping[str, float | int]] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)
    terms: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    words: Mapping[str, float] = field(default_factory=dict)
    removed: Removal | None = None
    reason: str | None = None

    def __str__(self) -> str:
        lines = [self.chunk_id]
        for stage, depth in self.depths.items():
            place = self.stages.get(stage)
            if place is None:
                lines.append(f"  {stage}: not among the {depth} it ranked")
                continue
            beyond = f", beyond the {depth} it handed on" if place["rank"] > depth else f" of {depth}"
            lines.append(f"  {stage}: rank {place['rank']}{beyond}, score {place['score']:.4g}")
            parts = self.words if stage == "bm25" else self.terms.get(stage, {})
            lines += [f"    {value:+.4g}  {name}" for name, value in sorted(parts.items(), key=lambda p: -p[1])]
        if self.removed is not None:
            lines.append(f"  removed by {self.removed.stage}: {self.removed.rule} ({self.removed.detail})")
        elif self.reason:
            lines.append(f"  {self.reason}")
        return "\n".join(lines)


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

    def renamed(self, names: Mapping[str, str]) -> RetrievalTrace:
        """This trace with other names for some of its stages; what a fusion noted about its arms follows."""

        def named(values: Mapping[str, Any]) -> dict[str, Any]:
            return {names.get(stage, stage): value for stage, value in values.items()}

        parameters = {
            stage: {key: named(noted) if key in _BY_ARM else noted for key, noted in known.items()}
            for stage, known in self.parameters.items()
        }
        return replace(
            self,
            rankings=named(self.rankings),
            removed=tuple(replace(removal, stage=names.get(removal.stage, removal.stage)) for removal in self.removed),
            parameters=named(parameters),
            timings=named(self.timings),
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
        named = next((r for r in reversed(self.removed) if r.chunk_id == chunk_id), None)
        return named if named is not None else self._beyond_top_k(chunk_id)

    def _beyond_top_k(self, chunk_id: str) -> Removal | None:
        # A fusion ranks hundreds and hands on ten: the rest is not written down one by one. A later stage decides.
        for stage, parameters in reversed(list(self.parameters.items())):
            top_k = parameters.get("top_k")
            place = next((hit.rank for hit in self.rankings.get(stage, ()) if hit.chunk_id == chunk_id), None)
            if top_k is not None and place is not None:
                detail = f"rank {place} of {stage}, and top_k is {top_k}"
                return Removal(chunk_id, stage, "beyond top_k", detail) if place > top_k else None
        return None

    def fusion_terms(self, chunk_id: str, stage: str) -> dict[str, float]:
        """What each arm gave to the chunk's fused score in `stage`; the terms sum to it. Empty for other stages."""
        parameters = self.parameters.get(stage, {})
        if "weights" not in parameters or all(hit.chunk_id != chunk_id for hit in self.rankings.get(stage, ())):
            return {}
        terms = {}
        for arm, weight in parameters["weights"].items():
            hit = next((hit for hit in self.rankings.get(arm, ()) if hit.chunk_id == chunk_id), None)
            terms[arm] = weight * _share(parameters, arm, hit, chunk_id)
        return terms

    def explain(self, chunk_id: str) -> Explanation:
        """Where the chunk stood in every stage, what each arm gave to it, and which rule removed it, if one did."""
        terms = {stage: self.fusion_terms(chunk_id, stage) for stage in self.rankings}
        return Explanation(
            chunk_id,
            stages={stage: dict(place) for stage, place in self.stages(chunk_id).items()},
            depths={stage: len(hits) for stage, hits in self.rankings.items()},
            terms={stage: found for stage, found in terms.items() if found},
            removed=self.removal(chunk_id),
        )

    def _repr_html_(self) -> str:
        """A table for notebooks: one row per chunk, its rank and score in each stage, and what removed it."""
        stages = list(self.rankings)
        last = self.rankings[stages[-1]] if stages else ()
        ids = dict.fromkeys(hit.chunk_id for hit in (*last, *(h for hits in self.rankings.values() for h in hits)))
        head = "".join(f"<th>{html.escape(stage)}</th>" for stage in stages)
        rows = []
        for chunk_id in list(ids)[:20]:
            places = self.stages(chunk_id)
            cells = "".join(
                f"<td>{places[s]['rank']} <small>{places[s]['score']:.4g}</small></td>" if s in places else "<td>–</td>"
                for s in stages
            )
            removal = self.removal(chunk_id)
            rows.append(f"<tr><td>{html.escape(chunk_id)}</td>{cells}<td>{removal.rule if removal else ''}</td></tr>")
        more = f"<p>and {len(ids) - 20} more</p>" if len(ids) > 20 else ""
        warnings = "".join(f"<p>warning: {html.escape(warning)}</p>" for warning in self.warnings)
        title = f"<p><b>{html.escape(self.question)}</b></p>"
        return f"{title}<table><tr><th>chunk</th>{head}<th>removed</th></tr>{''.join(rows)}</table>{more}{warnings}"

    def plot(self, *, top: int = 10) -> Any:
        """A matplotlib figure: for the best `top` chunks of the last ranking, a bar of its score in each stage."""
        try:
            from matplotlib.figure import Figure
        except ModuleNotFoundError as error:
            if error.name != "matplotlib":
                raise
            raise MissingExtraError("matplotlib", "dev", "a plot") from None
        stages = list(self.rankings) or [""]
        ids = [hit.chunk_id for hit in self.rankings.get(stages[-1], ())[:top]][::-1]
        figure = Figure(figsize=(2.6 * len(stages) + 1, 0.32 * max(4, len(ids)) + 1), layout="constrained")
        axes = figure.subplots(1, len(stages), sharey=True, squeeze=False)[0]
        for axis, stage in zip(axes, stages, strict=True):
            scores = {hit.chunk_id: hit.score for hit in self.rankings.get(stage, ())}
            axis.barh(range(len(ids)), [scores.get(chunk_id, 0.0) for chunk_id in ids])
            axis.set_yticks(range(len(ids)), ids)
            axis.set_title(stage)
        return figure


def _share(parameters: Mapping[str, Any], arm: str, hit: Hit | None, chunk_id: str) -> float:
    """An arm's unweighted part of a fused score, from what the fusion noted about itself."""
    if "scaling" not in parameters:
        place = hit.rank if hit is not None else parameters.get("missing_rank")
        return 0.0 if place is None else 1 / (parameters["k"] + place)
    score = hit.score if hit is not None else parameters.get("completed", {}).get(arm, {}).get(chunk_id)
    if score is None:
        return 0.0
    scale = parameters["scaling"][arm]
    value = float((score - scale["offset"]) / scale["spread"])
    if not scale["squash"]:
        return max(0.0, value) if scale["limit"] is None else min(scale["limit"], max(0.0, value))
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


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
        stages = document.metadata.get("stages")
        for stage, place in stages.items() if isinstance(stages, Mapping) else ():
            if not isinstance(place, Mapping):  # the key may be a person's own
                continue
            score, order = finite(place.get("score")), finite(place.get("rank"))
            if score is not None and order is not None:
                rankings.setdefault(str(stage), []).append(Hit(str(document.id), score, int(order)))
    return RetrievalTrace(question, {s: tuple(sorted(hits, key=lambda h: h.rank)) for s, hits in rankings.items()})


def finite(value: Any) -> float | None:
    """The value as a plain number; None where it is none, or not a finite one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def rank(scores: Mapping[str, float]) -> tuple[Hit, ...]:
    """Hits in order of score; ties break by chunk id, so that a run is the same on every machine."""
    order = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Hit(chunk_id, float(score), place) for place, (chunk_id, score) in enumerate(order, start=1))


def annotate(documents: Iterable[Document], trace: RetrievalTrace) -> list[Document]:
    """Copies of the documents whose `metadata["stages"]` say where they stood; the originals belong to the index."""
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
