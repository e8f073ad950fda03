"""How well verdicts agree with human labels: balanced accuracy and its kin, with bootstrap intervals and baselines.

"Supported" is label 1. F1 on "supported" flatters, so it is not among the measures; every figure stands beside what
"always supported", a ROUGE-1 threshold and a plain IDF coverage reach on the same claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure in percent with its bootstrap interval (2.5 and 97.5 percentiles); None where it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None


def balanced_accuracy(supported: Booleans, labels: Booleans) -> float:
    """The mean of the shares judged right among the supported and among the unsupported, in percent.

    NaN when one of the two classes is empty.
    """
    if not labels.any() or labels.all():
        return float("nan")
    return 50 * float(supported[labels].mean() + (~supported[~labels]).mean())


def auroc(scores: Floats, labels: Booleans) -> float:
    """The chance, in percent, that a supported claim scores above an unsupported one; ties count half."""
    if not labels.any() or labels.all():
        return float("nan")
    negative = np.sort(scores[~labels])
    below = np.searchsorted(negative, scores[labels], "left") + np.searchsorted(negative, scores[labels], "right")
    return 100 * float(below.mean()) / (2 * len(negative))


def precision_unsupported(supported: Booleans, labels: Booleans) -> float:
    """Of the claims that were not called supported, the share (percent) that is not; NaN when there are none."""
    flagged = ~supported
    return 100 * float((~labels[flagged]).mean()) if flagged.any() else float("nan")


def recall_unsupported(supported: Booleans, labels: Booleans) -> float:
    """Of the claims that are not supported, the share (percent) that was flagged; NaN when there are none."""
    return 100 * float((~supported[~labels]).mean()) if not labels.all() else float("nan")


def with_interval(measure: Callable[..., float], *columns: NDArray[Any], rounds: int = 500, seed: int = 0) -> Measure:
    """The measure of the columns, with the percentile bootstrap over claims; rounds that are undefined are left out."""
    value = measure(*columns)
    if np.isnan(value):
        return Measure(None)
    random, size = np.random.default_rng(seed), len(columns[0])
    drawn = []
    for _ in range(rounds):
        rows = random.integers(0, size, size)
        found = measure(*(column[rows] for column in columns))
        if not np.isnan(found):
            drawn.append(found)
    low, high = np.percentile(drawn, [2.5, 97.5]) if drawn else (value, value)
    return Measure(round(value, 1), round(float(low), 1), round(float(high), 1))


def claim_report(labels: Sequence[int], verdicts: Sequence[str], scores: Sequence[float]) -> dict[str, Measure]:
    """Every measure of one run of verdicts; empty input gives measures without a value."""
    truth = np.asarray(labels, dtype=bool)
    if not len(truth):
        names = ("balanced_accuracy", "auroc", "precision_unsupported", "recall_unsupported")
        return {name: Measure(None) for name in names}
    supported = np.array([verdict == "supported" for verdict in verdicts], dtype=bool)
    return {
        "balanced_accuracy": with_interval(balanced_accuracy, supported, truth),
        "auroc": with_interval(auroc, np.asarray(scores, dtype=float), truth),
        "precision_unsupported": with_interval(precision_unsupported, supported, truth),
        "recall_unsupported": with_interval(recall_unsupported, supported, truth),
    }


def best_threshold(scores: Floats, labels: Booleans) -> float:
    """The cut that gives the greatest balanced accuracy on these very labels."""
    cuts = np.unique(scores)
    positive, negative = np.sort(scores[labels]), np.sort(scores[~labels])
    kept = 1 - np.searchsorted(positive, cuts) / len(positive)
    flagged = np.searchsorted(negative, cuts) / len(negative)
    return float(cuts[int((kept + flagged).argmax())])


def baseline_report(labels: Sequence[int], baselines: Mapping[str, Sequence[float]]) -> dict[str, dict[str, Measure]]:
    """Balanced accuracy of score baselines, each at its own best cut on these labels (which flatters the baseline)."""
    truth = np.asarray(labels, dtype=bool)
    if not truth.any() or truth.all():
        return {}
    report = {"always supported": {"balanced_accuracy": Measure(50.0, 50.0, 50.0)}}
    for name, values in baselines.items():
        scores = np.asarray(values, dtype=float)
        supported = scores >= best_threshold(scores, truth)
        report[name] = {
            "balanced_accuracy": with_interval(balanced_accuracy, supported, truth),
            "auroc": with_interval(auroc, scores, truth),
        }
    return report


@dataclass(frozen=True, slots=True)
class Step:
    """A point of a risk-coverage curve: the share `coverage` of the claims scores at least `threshold`; of those, the
    share `risk` is not supported.
    """

    threshold: float
    coverage: float
    risk: float


def risk_coverage(scores: Sequence[float], labels: Sequence[int]) -> list[Step]:
    """The curve from the most certain claims to all of them, one step a distinct score (El-Yaniv and Wiener, 2010)."""
    values, truth = np.asarray(scores, dtype=float), np.asarray(labels, dtype=bool)
    steps = []
    for threshold in np.unique(values)[::-1]:
        kept = values >= threshold
        steps.append(Step(float(threshold), float(kept.mean()), float((~truth[kept]).mean())))
    return steps


def area_under(steps: Sequence[Step]) -> float | None:
    """The mean risk over the coverage (AURC; lower is better): each step counts as far as it widens the coverage."""
    if not steps:
        return None
    before = np.array([0.0, *(step.coverage for step in steps[:-1])])
    after = np.array([step.coverage for step in steps])
    risks = np.array([step.risk for step in steps])
    return round(float(((after - before) * risks).sum()), 4)


def thinned(steps: Sequence[Step], points: int = 20) -> list[Step]:
    """At most so many steps, spread over the curve, first and last among them."""
    if len(steps) <= points:
        return list(steps)
    places = np.unique(np.linspace(0, len(steps) - 1, points).round().astype(int))
    return [steps[place] for place in places]


def calibrated_threshold(scores: Sequence[float], labels: Sequence[int], *, rounds: int = 200) -> dict[str, Any]:
    """The threshold with the greatest balanced accuracy, with its bootstrap interval.

    `balanced_accuracy` is measured on the claims that fixed the threshold; `held_out` on those that a round of the
    bootstrap did not draw, which is what to expect of other claims. ValueError when one of the two classes is empty.
    """
    values, truth = np.asarray(scores, dtype=float), np.asarray(labels, dtype=bool)
    if not truth.any() or truth.all():
        raise ValueError("every claim has the same label")
    random, size = np.random.default_rng(0), len(values)
    cuts, held_out = [], []
    for _ in range(rounds):
        rows = random.integers(0, size, size)
        rest = np.setdiff1d(np.arange(size), rows)
        if truth[rows].all() or not truth[rows].any():
            continue
        cuts.append(best_threshold(values[rows], truth[rows]))
        found = balanced_accuracy(values[rest] >= cuts[-1], truth[rest])
        if not np.isnan(found):
            held_out.append(found)
    # The median of the rounds is steadier than the one best cut.
    cut = round(float(np.median(cuts)), 4) if cuts else best_threshold(values, truth)
    low, high = np.percentile(cuts, [2.5, 97.5]) if cuts else (cut, cut)
    return {
        "threshold": cut,
        "interval": [round(float(low), 4), round(float(high), 4)],
        "balanced_accuracy": round(balanced_accuracy(values >= cut, truth), 1),
        "held_out": round(float(np.mean(held_out)), 1) if held_out else None,
    }


def calibration_report(labels: Sequence[int], verdicts: Sequence[str], scores: Sequence[float]) -> dict[str, Any]:
    """The calibrated threshold, what the present one reaches ("now"), and the risk-coverage curve with its area."""
    supported = np.array([verdict == "supported" for verdict in verdicts], dtype=bool)
    steps = risk_coverage(scores, labels)
    return {
        "claims": len(labels),
        "supported": int(sum(labels)),
        **calibrated_threshold(scores, labels),
        "now": round(balanced_accuracy(supported, np.asarray(labels, dtype=bool)), 1),
        "aurc": area_under(steps),
        "risk_coverage": thinned(steps),
    }
