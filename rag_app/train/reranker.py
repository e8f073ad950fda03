"""A reranker fitted on judgments, measured on queries it never saw, and saved with a weight that suits it."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from rag_app.evaluate.datasets import Dataset
from rag_app.evaluate.measures import mean, per_query
from rag_app.evaluate.retrieval import ranking_of_sources
from rag_app.evaluate.significance import Comparison, bootstrap_interval, compare
from rag_app.rerank.base import blended
from rag_app.rerank.cross_encoder import RECOMMENDED, CrossEncoderReranker
from rag_app.train.cross_encoder import PACKAGED, fit_cross_encoder, save
from rag_app.train.groups import held_out_ids, mine_groups

Progress = Callable[[int, int, str], None]
WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0)
_MEASURE = "nDCG@10"


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What came of the training, on the queries held out.

    `rankings` and `intervals`: nDCG@10 of the fused order, the reranker alone, and both blended; `blend`: the weight
    saved with the model. Blended figures are honest: each half of the held-out queries is scored with the weight that
    suited the other half.
    """

    model: str
    base: str
    groups: int
    trained_on: int
    held_out: int
    blend: float
    rankings: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    comparisons: tuple[Comparison, ...]
    finding: str
    helped: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A held-out query: its candidates, best first, with the fused and the model's scores."""

    candidates: Sequence[Document]
    fused: Sequence[float]
    raw: Sequence[float]

    def ranking(self, weight: float | None) -> list[str]:
        """Sources by z(fused) + weight x z(model); None: by the model alone."""
        keys = self.raw if weight is None else blended(self.fused, self.raw, weight)
        order = sorted(range(len(keys)), key=lambda i: (-keys[i], str(self.candidates[i].id)))
        return ranking_of_sources([self.candidates[i] for i in order])


def train_reranker(
    retriever: Any,
    dataset: Dataset,
    folder: str | Path,
    *,
    base: str = PACKAGED,
    negatives: int = 5,
    epochs: int = 2,
    max_tokens: int = 200,
    learning_rate: float = 5e-5,
    candidates: int = 20,
    held_out: float = 0.2,
    bf16: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> TrainingReport:
    """Fit a cross-encoder on the judged queries but for a part held out, save it to `folder`, and say what it is worth.

    `retriever` mines the hard negatives and gives the fused order that the model reorders. The folder holds the model,
    as `rerank.model` takes it, and the settings it was measured with.
    """
    place = Path(folder)
    judged = [i for i, grades in dataset.qrels.items() if i in dataset.queries and max(grades.values()) > 0]
    kept = held_out_ids(judged, held_out, seed=seed)
    seen = {i: dataset.queries[i] for i in judged if i not in kept}
    groups = mine_groups(retriever, seen, dataset.qrels, negatives=negatives, seed=seed)
    model, tokenizer = fit_cross_encoder(
        groups,
        base=base,
        epochs=epochs,
        max_tokens=max_tokens,
        learning_rate=learning_rate,
        bf16=bf16,
        seed=seed,
        progress=progress,
    )
    save(model, tokenizer, place)
    recommended: dict[str, Any] = {
        "threshold": None,
        "long_passages": "cut",
        "max_candidates": candidates,
    }
    reranker = CrossEncoderReranker(model=str(place), **recommended)
    unseen = {i: dataset.queries[i] for i in judged if i in kept}
    scored = _score(retriever, reranker, unseen, candidates, progress)
    qrels = {i: dataset.qrels[i] for i in unseen}
    blend, values = _weigh(scored, qrels)
    recommended["blend"] = blend
    (place / RECOMMENDED).write_text(json.dumps(recommended, indent=2) + "\n", encoding="utf-8")
    gain = compare(values["fused"], values["blended"], names=("fused", "blended"), measure=_MEASURE)
    alone = compare(values["fused"], values["alone"], names=("fused", "alone"), measure=_MEASURE)
    return TrainingReport(
        model=str(place),
        base=base,
        groups=len(groups),
        trained_on=len(seen),
        held_out=len(unseen),
        blend=blend,
        rankings={name: mean(each) for name, each in values.items()},
        intervals={name: bootstrap_interval(list(each.values())) for name, each in values.items()},
        comparisons=(alone, gain),
        finding=_finding(gain),
        helped=gain.ci[0] > 0,
    )


def _score(
    retriever: Any, reranker: CrossEncoderReranker, queries: Mapping[str, str], depth: int, progress: Progress | None
) -> dict[str, _Judged]:
    scored: dict[str, _Judged] = {}
    rankings = retriever.batch(list(queries.values()), k=depth)
    for (query_id, query), documents in zip(queries.items(), rankings, strict=True):
        fused = [float(list(document.metadata["stages"].values())[-1]["score"]) for document in documents]
        raw = reranker.score(query, documents).raw if documents else ()
        scored[query_id] = _Judged(documents, fused, raw)
        if progress is not None:
            progress(len(scored), len(queries), "measuring")
    return scored


def _weigh(
    scored: Mapping[str, _Judged], qrels: Mapping[str, Mapping[str, int]]
) -> tuple[float, dict[str, dict[str, float]]]:
    """The weight that is safe for all held-out queries, and the values of each order of them."""

    def of(weight: float | None) -> dict[str, float]:
        run = {query_id: each.ranking(weight) for query_id, each in scored.items()}
        return per_query(run, qrels, [_MEASURE])[_MEASURE]

    by_weight = {weight: of(weight) for weight in WEIGHTS}
    halves = [list(scored)[0::2], list(scored)[1::2]]
    crossed: dict[str, float] = {}
    for own, other in (halves, halves[::-1]):
        weight = safest_weight(by_weight, other or own)
        crossed |= {query_id: by_weight[weight][query_id] for query_id in own}
    values = {"fused": of(0.0), "alone": of(None), "blended": {query_id: crossed[query_id] for query_id in scored}}
    return safest_weight(by_weight, list(scored)), values


def safest_weight(by_weight: Mapping[float, Mapping[str, float]], query_ids: Sequence[str]) -> float:
    """The lowest weight whose mean is within one standard error of the best one's, by paired differences.

    Few queries cannot tell weights apart, and a low one leaves the fused order its say. The rule is that of Breiman,
    Friedman, Olshen and Stone, "Classification and Regression Trees", 1984, for the size of a tree.
    """
    best = max(by_weight, key=lambda weight: (sum(by_weight[weight][i] for i in query_ids), -weight))
    for weight in sorted(by_weight):
        losses = [by_weight[best][i] - by_weight[weight][i] for i in query_ids]
        error = statistics.stdev(losses) / math.sqrt(len(losses)) if len(losses) > 1 else 0.0
        if statistics.fmean(losses) <= error:
            return weight
    return best


def _finding(gain: Comparison) -> str:
    low, high = gain.ci
    what = f"{_MEASURE} {gain.difference:+.3f} on held-out queries (95 % interval {low:+.3f} to {high:+.3f})"
    if low > 0:
        return f"training helped: blended with the fused order, {what}"
    if high < 0:
        return f"training did not help, it does harm: {what}; do not use this model"
    return f"training is not shown to help: {what}; more judgments may"
