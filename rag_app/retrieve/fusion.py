"""Several rankings become one. Plain arithmetic on ids and scores: no model, no index, no document.

Every fused score is a sum of one term per arm; `RetrievalTrace.explain` gives the terms of any chunk.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

Normalization = Literal["top", "min-max", "max", "z-score", "distribution"]
_TOP = 10


class Scaling(NamedTuple):
    """How one arm's scores become comparable numbers: `(score - offset) / spread`, cut to [0, limit] or squashed."""

    offset: float
    spread: float
    squash: bool = False
    limit: float = 1.0

    def apply(self, score: float) -> float:
        """The score on the common scale; higher stays better."""
        value = (score - self.offset) / self.spread
        if not self.squash:
            return min(self.limit, max(0.0, value))
        return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))

    def as_parameters(self) -> dict[str, float | bool | None]:
        """The scaling as the trace keeps it: plain JSON, no limit as null."""
        return {**self._asdict(), "limit": None if math.isinf(self.limit) else self.limit}


def unique(ranking: Iterable[str]) -> list[str]:
    """The ids in order, each once, at its best rank: one vote per document per list."""
    return list(dict.fromkeys(ranking))


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[str]],
    *,
    k: float = 60,
    weights: Sequence[float] | None = None,
    missing_rank: int | None = None,
) -> dict[str, float]:
    """Score each id by the sum of weight / (k + rank) over the rankings that hold it; ranks start at 1.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion", SIGIR 2009; k = 60 is theirs, weights are ours (default
    1). An id that a ranking lacks gets nothing from it, or weight / (k + missing_rank) where that option is set. An id
    that stands twice in a ranking counts once, at its best rank.
    """
    lists = [unique(ranking) for ranking in rankings]
    shares = weights if weights is not None else [1.0] * len(lists)
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking, weight in zip(lists, shares, strict=True):
        for rank, chunk_id in enumerate(ranking, start=1):
            scores[chunk_id] += weight / (k + rank)
    if missing_rank is not None:
        for ranking, weight in zip(lists, shares, strict=True):
            for chunk_id in scores.keys() - set(ranking):
                scores[chunk_id] += weight / (k + missing_rank)
    return dict(scores)


def scaling(scores: Collection[float], normalization: Normalization = "min-max") -> Scaling:
    """The scaling of one arm's scores for one query.

    "top" divides by the mean of the ten best, so that an arm with one clear winner says it louder than an arm that
    likes ten things alike; it is not cut at 1. "min-max" maps worst and best to 0 and 1. "max" divides by the best.
    "z-score" puts the logistic function over (score - mean) / sd. "distribution" maps mean - 3 sd and mean + 3 sd to 0
    and 1. Where all scores are equal there is nothing to tell apart: all become 1, or .5 for the last two; the same
    where "top" or "max" would divide by 0 or less. No scores: (0, 1).
    """
    if not scores:
        return Scaling(0.0, 1.0)
    low, high = min(scores), max(scores)
    if normalization == "top":
        best = statistics.fmean(sorted(scores, reverse=True)[:_TOP])
        return Scaling(0.0, best, limit=math.inf) if best > 0 else Scaling(low - 1, 1.0)
    if normalization == "max" and high > 0:
        return Scaling(0.0, high)
    if normalization in ("min-max", "max"):
        return Scaling(low, high - low) if high > low else Scaling(low - 1, 1.0)
    mean, deviation = statistics.fmean(scores), statistics.pstdev(scores)
    if normalization == "z-score":
        return Scaling(mean, deviation or 1.0, squash=True)
    return Scaling(mean - 3 * deviation, 6 * deviation) if deviation else Scaling(mean - 0.5, 1.0)


def linear_fusion(
    arms: Sequence[Mapping[str, float]],
    *,
    weights: Sequence[float] | None = None,
    normalization: Normalization = "min-max",
    completed: Sequence[Mapping[str, float]] | None = None,
) -> dict[str, float]:
    """Score each id by the sum of weight x scaled score over the arms that hold it.

    Scores are scaled per query and arm, to [0, 1] but for "top"; an id that an arm lacks gets 0 from it. `completed`
    has, for each arm, true scores of ids that the arm did not rank: they count, and do not move the scale. Weights
    default to equal shares of 1.
    """
    shares = weights if weights is not None else [1 / max(1, len(arms))] * len(arms)
    more = completed if completed is not None else [{}] * len(arms)
    fused: defaultdict[str, float] = defaultdict(float)
    for scores, weight, extra in zip(arms, shares, more, strict=True):
        scale = scaling(scores.values(), normalization)
        for chunk_id, score in {**extra, **scores}.items():
            fused[chunk_id] += weight * scale.apply(score)
    return dict(fused)


def distribution_based_score_fusion(
    arms: Sequence[Mapping[str, float]], *, weights: Sequence[float] | None = None
) -> dict[str, float]:
    """Linear fusion after scaling by mean and three standard deviations of each arm's scores.

    Mazzeschi, "Distribution-Based Score Fusion", 2023; the scores are cut to [0, 1] as Qdrant does.
    """
    return linear_fusion(arms, weights=weights, normalization="distribution")
