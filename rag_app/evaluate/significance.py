"""Is a difference between two systems more than luck? Paired tests over the same queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """System `b` less system `a` on one measure: the mean difference, its interval, and the chance of such luck.

    `wins`, `losses` and `ties` count queries on which b is better, worse, equal.
    """

    a: str
    b: str
    measure: str
    difference: float
    ci: tuple[float, float]
    p: float
    wins: int
    losses: int
    ties: int


def permutation_test(differences: Sequence[float], *, rounds: int = 10_000, seed: int = 0) -> float:
    """Two-sided p that the mean of paired differences is 0, by flipping signs at random.

    Fisher, 1935; Smucker, Allan and Carterette, CIKM 2007, recommend it for retrieval. All signs are tried when there
    are at most 2^13 ways; else `rounds` random ones, counting the observed one too, so that p is never 0. No
    differences: 1.
    """
    values = np.asarray([d for d in differences if d != 0], dtype=np.float64)
    if not len(values):
        return 1.0
    observed = abs(values.sum()) - 1e-12
    if len(values) <= 13:
        signs = 1 - 2 * ((np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1)
        return float((np.abs(signs @ values) >= observed).mean())
    generator = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, rounds, 1000):
        signs = generator.integers(0, 2, size=(min(1000, rounds - start), len(values))) * 2 - 1
        extreme += int((np.abs(signs @ values) >= observed).sum())
    return (extreme + 1) / (rounds + 1)


def bootstrap_interval(
    values: Sequence[float], *, level: float = 0.95, rounds: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of the mean, by drawing queries with replacement (Efron, 1979). No values: (0, 0)."""
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return (0.0, 0.0)
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [
            sample[generator.integers(0, len(sample), size=(min(1000, rounds - start), len(sample)))].mean(axis=1)
            for start in range(0, rounds, 1000)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return (float(low), float(high))


def compare(
    a: Mapping[str, float], b: Mapping[str, float], *, names: tuple[str, str] = ("a", "b"), measure: str = ""
) -> Comparison:
    """`b` less `a` over the queries that both have; deterministic."""
    shared = [query_id for query_id in a if query_id in b]
    differences = [b[query_id] - a[query_id] for query_id in shared]
    return Comparison(
        a=names[0],
        b=names[1],
        measure=measure,
        difference=float(np.mean(differences)) if differences else 0.0,
        ci=bootstrap_interval(differences),
        p=permutation_test(differences),
        wins=sum(difference > 0 for difference in differences),
        losses=sum(difference < 0 for difference in differences),
        ties=sum(difference == 0 for difference in differences),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for being several (Holm, 1979), in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for place, i in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - place) * p_values[i]))
        adjusted[i] = running
    return adjusted
