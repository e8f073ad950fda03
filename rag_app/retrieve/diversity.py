"""Less of the same: near-duplicates out, and relevance traded for novelty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rag_app.retrieve.fusion import scaling
from rag_app.trace import Removal, RetrievalTrace
from rag_app.types import Hit

if TYPE_CHECKING:
    from rag_app.index.base import Index

Vectors = npt.NDArray[np.float32]


def near_duplicates(vectors: Vectors, *, threshold: float = 0.97) -> dict[int, int]:
    """For each row that is nearly an earlier kept one: which. Rows are best first, unit norm; cosine >= threshold."""
    similar = vectors @ vectors.T
    kept: list[int] = []
    found: dict[int, int] = {}
    for row in range(len(vectors)):
        twin = next((earlier for earlier in kept if similar[row, earlier] >= threshold), None)
        if twin is None:
            kept.append(row)
        else:
            found[row] = twin
    return found


def maximal_marginal_relevance(
    relevance: Sequence[float], vectors: Vectors, *, balance: float = 0.7, k: int | None = None
) -> list[int]:
    """Rows in the order of balance x relevance - (1 - balance) x the greatest cosine with a row already taken.

    Carbonell and Goldstein, "The use of MMR", SIGIR 1998; `balance` is their lambda: 1 keeps the order of relevance.
    `relevance` should be in [0, 1]; ties go to the earlier row.
    """
    scores = np.asarray(relevance, dtype=np.float64)
    similar: npt.NDArray[Any] = vectors @ vectors.T
    left = list(range(len(scores)))
    order: list[int] = []
    closest = np.zeros(len(scores))
    while left and (k is None or len(order) < k):
        best = max(left, key=lambda row: (balance * scores[row] - (1 - balance) * closest[row], -row))
        left.remove(best)
        # Before the first choice nothing is similar; a negative cosine is no bonus beyond that.
        closest = np.maximum(closest, similar[best])
        order.append(best)
    return order


def diversify(
    index: Index, hits: Sequence[Hit], trace: RetrievalTrace, *, k: int, duplicates: float | None, mmr: float | None
) -> tuple[tuple[Hit, ...], RetrievalTrace]:
    """The hits without near-duplicates, then in MMR order, and the trace that says so.

    Chunks that the index does not hold (of a foreign arm) have no vector: they keep their place among the rest.
    """
    pool = list(hits[: 5 * k])
    known = {str(document.id) for document in index.get([hit.chunk_id for hit in pool])}
    inside = [hit for hit in pool if hit.chunk_id in known]
    vectors = index.vectors([hit.chunk_id for hit in inside])
    if duplicates is not None:
        twins = near_duplicates(vectors, threshold=duplicates)
        detail = f"its cosine with {{}} is at least {duplicates:g}"
        removed = [
            Removal(inside[row].chunk_id, "retrieve", "duplicate", detail.format(inside[twin].chunk_id))
            for row, twin in twins.items()
        ]
        trace = trace.add("duplicates", None, removed=removed)
        gone = {inside[row].chunk_id for row in twins}
        vectors = vectors[[row for row in range(len(inside)) if row not in twins]]
        inside = [hit for hit in inside if hit.chunk_id not in gone]
        pool = [hit for hit in pool if hit.chunk_id not in gone]
    if mmr is None:
        return tuple(pool), trace
    scale = scaling([hit.score for hit in inside], "min-max")
    order = iter(maximal_marginal_relevance([scale.apply(hit.score) for hit in inside], vectors, balance=mmr))
    ordered = [inside[next(order)] if hit.chunk_id in known else hit for hit in pool]
    ranking = tuple(Hit(hit.chunk_id, 1 / place, place) for place, hit in enumerate(ordered, start=1))
    return ranking, trace.add("mmr", ranking, parameters={"balance": mmr, "top_k": k})
