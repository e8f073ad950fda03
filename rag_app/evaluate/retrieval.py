"""Rankings against judgments: measures with intervals, paired comparisons, and findings in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from langchain_core.documents import Document

from rag_app.evaluate.datasets import Dataset
from rag_app.evaluate.measures import DEFAULT_MEASURES, mean, per_query
from rag_app.evaluate.significance import Comparison, bootstrap_interval, compare, holm

Progress = Callable[[int, int, str], None]
# Batches of queries in, documents best first out: `retriever.batch`, or any function like it.
SearchMany = Callable[[list[str]], Sequence[Sequence[Document]]]
_SLICE = 64
_TOLERANCE = 0.005


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """What `rag-app eval retrieval` prints: means, intervals, comparisons on `primary`, findings.

    `values[ranking][measure][query_id]` has every query's value.
    """

    dataset: str
    queries: int
    rankings: dict[str, dict[str, float]]
    intervals: dict[str, dict[str, tuple[float, float]]]
    comparisons: tuple[Comparison, ...]
    findings: tuple[str, ...]
    values: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, without the values of single queries."""
        return {
            "dataset": self.dataset,
            "queries": self.queries,
            "rankings": {r: {m: round(v, 4) for m, v in values.items()} for r, values in self.rankings.items()},
            "intervals": {
                r: {m: [round(x, 4) for x in ci] for m, ci in values.items()} for r, values in self.intervals.items()
            },
            "comparisons": [
                {
                    **asdict(c),
                    "difference": round(c.difference, 4),
                    "ci": [round(x, 4) for x in c.ci],
                    "p": round(c.p, 5),
                }
                for c in self.comparisons
            ],
            "findings": list(self.findings),
        }


def ranking_of_sources(documents: Sequence[Document]) -> list[str]:
    """The sources of chunks, each at the rank of its best chunk: judgments are about documents."""
    return list(dict.fromkeys(str(document.metadata.get("source", document.id)) for document in documents))


def make_run(
    search: SearchMany, queries: Mapping[str, str], *, name: str = "", progress: Progress | None = None
) -> dict[str, list[str]]:
    """`{query_id: sources best first}` of all queries, asked in batches."""
    ids = list(queries)
    run: dict[str, list[str]] = {}
    for start in range(0, len(ids), _SLICE):
        part = ids[start : start + _SLICE]
        for query_id, documents in zip(part, search([queries[i] for i in part]), strict=True):
            run[query_id] = ranking_of_sources(documents)
        if progress is not None:
            progress(len(run), len(ids), f"searching {name}".strip())
    return run


def evaluate_retrieval(
    dataset: Dataset,
    searches: Mapping[str, SearchMany],
    *,
    measures: Sequence[str] = DEFAULT_MEASURES,
    primary: str = "nDCG@10",
    progress: Progress | None = None,
) -> RetrievalReport:
    """Every ranking measured on the judged queries, and each compared with the one before it and with the first."""
    judged = {query_id: dataset.queries[query_id] for query_id in dataset.qrels}
    runs = {name: make_run(search, judged, name=name, progress=progress) for name, search in searches.items()}
    return evaluate_runs(dataset, runs, measures=measures, primary=primary)


def evaluate_runs(
    dataset: Dataset,
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    measures: Sequence[str] = DEFAULT_MEASURES,
    primary: str = "nDCG@10",
) -> RetrievalReport:
    """The report of runs that are there already."""
    names = list(dict.fromkeys([primary, *measures]))
    values = {ranking: per_query(run, dataset.qrels, names) for ranking, run in runs.items()}
    order = list(runs)
    pairs = [(a, b) for place, b in enumerate(order) for a in order[:place]]
    comparisons = [compare(values[a][primary], values[b][primary], names=(a, b), measure=primary) for a, b in pairs]
    rankings = {r: {m: mean(values[r][m]) for m in names} for r in order}
    return RetrievalReport(
        dataset=dataset.name,
        queries=len(next(iter(values.values()))[primary]) if values else 0,
        rankings=rankings,
        intervals={r: {m: bootstrap_interval(list(values[r][m].values())) for m in names} for r in order},
        comparisons=tuple(comparisons),
        findings=tuple(_findings(comparisons, rankings, primary)),
        values=values,
    )


def _findings(
    comparisons: Sequence[Comparison], rankings: Mapping[str, Mapping[str, float]], primary: str
) -> list[str]:
    """What a reader should take home; a difference counts where p is below .05 after Holm's adjustment."""
    found: list[str] = []
    for comparison, p in zip(comparisons, holm([c.p for c in comparisons]), strict=True):
        if p < 0.05:
            better, worse = (comparison.b, comparison.a) if comparison.difference > 0 else (comparison.a, comparison.b)
            found.append(
                f"{better} is better than {worse}: {primary} {rankings[better][primary]:.3f} against "
                f"{rankings[worse][primary]:.3f}, p = {p:.4f} (permutation test, Holm)"
            )
    arms = [name for name in ("bm25", "dense") if name in rankings]
    if "hybrid" in rankings and arms:
        best = max(arms, key=lambda name: rankings[name][primary])
        loss = rankings[best][primary] - rankings["hybrid"][primary]
        if loss > _TOLERANCE:
            found.append(f"fusing does harm: hybrid is {loss:.3f} below {best}; look at `retrieve.weights`")
    if "rerank" in rankings and "hybrid" in rankings:
        loss = rankings["hybrid"][primary] - rankings["rerank"][primary]
        if loss > _TOLERANCE:
            found.append(f"reranking does harm: {loss:.3f} below hybrid; set `rerank.kind: none`, or a lower blend")
    if not found and len(rankings) > 1:
        found.append(f"no ranking is shown to be better than another on {primary}")
    return found
