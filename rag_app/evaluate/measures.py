"""Measures of a ranking against judgments, as the field writes them: `nDCG@10`, `MAP`, `R@100`, `P@5`, `RR@10`.

A ranking is ids best first, each once; judgments map ids to grades, of which those above 0 are relevant. All measures
lie in [0, 1]; a query without relevant documents scores 0 here; `per_query` leaves it out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from rag_app.types import ConfigError

Judgments = Mapping[str, int]
Measure = Callable[[Sequence[str], Judgments], float]
DEFAULT_MEASURES = ("nDCG@10", "MAP", "R@10", "R@100", "P@5", "RR@10")


def ndcg(ranking: Sequence[str], judgments: Judgments, k: int | None = None) -> float:
    """Sum of grade / log2(rank + 1) over the first k, over that of the ideal ranking.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002, with the grade as gain, as
    trec_eval has it. Grades below 0 gain nothing.
    """
    gains = [max(0, judgments.get(chunk_id, 0)) for chunk_id in ranking[:k]]
    ideal = sorted((max(0, grade) for grade in judgments.values()), reverse=True)[:k]
    best = _discounted(ideal)
    return _discounted(gains) / best if best else 0.0


def average_precision(ranking: Sequence[str], judgments: Judgments, k: int | None = None) -> float:
    """Mean over the relevant documents of the precision at each one's rank; 0 for those not among the first k."""
    relevant = _relevant(judgments)
    found, total = 0, 0.0
    for rank, chunk_id in enumerate(ranking[:k], start=1):
        if chunk_id in relevant:
            found += 1
            total += found / rank
    return total / len(relevant) if relevant else 0.0


def recall(ranking: Sequence[str], judgments: Judgments, k: int | None = None) -> float:
    """The share of the relevant documents that stand among the first k."""
    relevant = _relevant(judgments)
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def precision(ranking: Sequence[str], judgments: Judgments, k: int | None = None) -> float:
    """Relevant documents among the first k, over k; a short ranking is filled up with what is not relevant."""
    depth = k if k is not None else len(ranking)
    return len(_relevant(judgments).intersection(ranking[:k])) / depth if depth else 0.0


def reciprocal_rank(ranking: Sequence[str], judgments: Judgments, k: int | None = None) -> float:
    """1 / rank of the first relevant document among the first k; 0 when there is none."""
    relevant = _relevant(judgments)
    return next((1 / rank for rank, chunk_id in enumerate(ranking[:k], start=1) if chunk_id in relevant), 0.0)


def hit(ranking: Sequence[str], judgments: Judgments, k: int | None = None) -> float:
    """1 when a relevant document stands among the first k, else 0."""
    return float(bool(_relevant(judgments).intersection(ranking[:k])))


_NAMES: dict[str, Callable[[Sequence[str], Judgments, int | None], float]] = {
    "nDCG": ndcg,
    "MAP": average_precision,
    "AP": average_precision,
    "R": recall,
    "P": precision,
    "RR": reciprocal_rank,
    "Hit": hit,
}
_FORM = re.compile(r"(?P<name>[A-Za-z]+)(?:@(?P<k>[1-9]\d*))?")


def measure(name: str) -> Measure:
    """The measure of a name such as `nDCG@10`; ConfigError lists the known ones."""
    match = _FORM.fullmatch(name)
    if match is None or match["name"] not in _NAMES:
        raise ConfigError(f"there is no measure {name!r}; known: {', '.join(_NAMES)}, each with a cut-off such as @10")
    function, k = _NAMES[match["name"]], int(match["k"]) if match["k"] else None
    return lambda ranking, judgments: function(ranking, judgments, k)


def per_query(
    run: Mapping[str, Sequence[str]], qrels: Mapping[str, Judgments], names: Sequence[str] = DEFAULT_MEASURES
) -> dict[str, dict[str, float]]:
    """`{measure: {query_id: value}}` over the queries that have a relevant document; one without a run scores 0."""
    judged = [query_id for query_id, judgments in qrels.items() if _relevant(judgments)]
    functions = {name: measure(name) for name in names}
    return {
        name: {query_id: function(run.get(query_id, ()), qrels[query_id]) for query_id in judged}
        for name, function in functions.items()
    }


def mean(values: Mapping[str, float]) -> float:
    """The mean over queries; 0 for none."""
    return math.fsum(values.values()) / len(values) if values else 0.0


def _relevant(judgments: Judgments) -> set[str]:
    return {chunk_id for chunk_id, grade in judgments.items() if grade > 0}


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
