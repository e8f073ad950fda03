"""Fix the constants of the lexical level and write rag_app/verify/lexical.json.

    python benchmarks/verify/fit.py DATA [--write]

DATA holds NAME/claims.jsonl of four human-labeled sets. Prints the balanced accuracy cross-validated by group (the
question or the source, so that no text is on both sides), then with one whole set left out: the model knows
nothing of it; the subsets of ab_dev, which come from different systems and questions, count as sets of their own. The
support model is logistic with a ridge, every weight bound to the sign that its meaning has (a missing word never
helps), all sets and both classes weighing the same. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from rag_app.evaluate.claims import auroc, balanced_accuracy
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import LinearModel, support_of

SETS = ("ab_dev", "wice_dev", "qags_xsum", "scifact_claims_train")
HARMS = ("numbers missing", "number absent", "names lost")
FEATURES = (
    "second half", "weaker half", "rare words found", "numbers missing", "number absent", "names lost",
    "neighbors kept", "pairs kept", "window used",
)  # fmt: skip
RIDGE = 0.75
THRESHOLD = 0.5
"""Best on the mean over the four sets and the subsets of ab_dev."""
FOLDS = 5
SEEDS = 8
OUT = Path(__file__).resolve().parents[2] / "rag_app" / "verify" / "lexical.json"

PROBE = LinearModel(features=(), mean=(), scale=(), weights=(), bias=0.0)


class Data(NamedTuple):
    features: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    sets: np.ndarray
    subsets: np.ndarray


def read(folder: Path, names: tuple[str, ...]) -> Data:
    """Features of every claim of the named sets; a claim of which nothing is found has none (NaN)."""
    rows: list[Any] = []
    sources: dict[str, IndexedSource] = {}
    groups: dict[str, int] = {}
    for name in names:
        for line in (folder / name / "claims.jsonl").open(encoding="utf-8"):
            row = json.loads(line)
            source = sources.get(row["source"]) or sources.setdefault(row["source"], IndexedSource(row["source"]))
            group = groups.setdefault(str(row.get("question") or row["source"]), len(groups))
            found = support_of(row["claim"], source, PROBE).features
            values = [found.get(feature, np.nan) for feature in FEATURES]
            subset = f"{name}/{row['subset']}" if "subset" in row and name == "ab_dev" else name
            rows.append((values, row["label"], group, name, subset))
        sources.clear()
    features, labels, *names_ = (np.array(column) for column in zip(*rows, strict=True))
    return Data(features, labels.astype(bool), *names_)


def sample_weights(data: Data) -> np.ndarray:
    """Each set and each class of it weighs the same; the sum is 1."""
    weights = np.zeros(len(data.labels))
    for name in np.unique(data.sets):
        for label in (0, 1):
            mask = (data.sets == name) & (data.labels == bool(label))
            weights[mask] = 1 / max(1, mask.sum())
    return weights / weights.sum()


def fit(data: Data) -> LinearModel:
    """The ridge logistic model with signed weights, its scores stretched to be shares of supported claims."""
    data = take(data, ~np.isnan(data.features[:, 0]))
    weights = sample_weights(data)
    mean = np.average(data.features, axis=0, weights=weights)
    scale = np.sqrt(np.average((data.features - mean) ** 2, axis=0, weights=weights)) + 1e-9
    rows, signs = (data.features - mean) / scale, np.where(data.labels, 1, -1)

    def loss(p: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (rows @ p[:-1] + p[-1])
        slope = -weights * signs / (1 + np.exp(margins))
        value = (weights * np.logaddexp(0, -margins)).sum() + RIDGE * (p[:-1] ** 2).sum() / 2
        return value, np.append(rows.T @ slope + RIDGE * p[:-1], slope.sum())

    bounds = [(None, 0) if feature in HARMS else (0, None) for feature in FEATURES] + [(None, None)]
    p = minimize(loss, np.zeros(len(FEATURES) + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    # The ridge keeps the weights near each other and the scores near the middle; stretched, a score is a share again.
    raw = rows @ p[:-1] + p[-1]
    stretch = minimize(
        lambda q: (weights * np.logaddexp(0, -signs * (q[0] * raw + q[1]))).sum(), np.array([1.0, 0.0])
    ).x
    p = np.append(p[:-1] * stretch[0], p[-1] * stretch[0] + stretch[1])
    return LinearModel(
        features=FEATURES,
        mean=tuple(np.round(mean, 5).tolist()),
        scale=tuple(np.round(scale, 5).tolist()),
        weights=tuple(np.round(p[:-1], 5).tolist()),
        bias=round(float(p[-1]), 5),
    )


def scores(model: LinearModel, features: np.ndarray) -> np.ndarray:
    z = (features - np.array(model.mean)) / np.array(model.scale) @ np.array(model.weights) + model.bias
    return np.nan_to_num(1 / (1 + np.exp(-z)))


def take(data: Data, mask: np.ndarray) -> Data:
    return Data(*(column[mask] for column in data))


def cross_validated(data: Data) -> dict[str, float]:
    """Balanced accuracy per set: the model from the other folds, groups kept whole, mean over the seeds."""
    results: dict[str, list[float]] = {name: [] for name in SETS}
    groups = np.unique(data.groups)
    for seed in range(SEEDS):
        fold_of = dict(zip(groups, np.random.default_rng(seed).integers(0, FOLDS, len(groups)), strict=True))
        folds = np.array([fold_of[group] for group in data.groups])
        supported = np.zeros(len(folds), dtype=bool)
        for fold in range(FOLDS):
            train = take(data, folds != fold)
            model = fit(train)
            supported[folds == fold] = scores(model, data.features[folds == fold]) >= THRESHOLD
        for name in SETS:
            mask = data.sets == name
            results[name].append(balanced_accuracy(supported[mask], data.labels[mask]))
    return {name: round(float(np.mean(values)), 1) for name, values in results.items()}


def left_out(data: Data) -> dict[str, tuple[float, float]]:
    """(balanced accuracy, AUROC) of each set and each subset, the model from all others."""
    results = {}
    for name in (*SETS, *(subset for subset in np.unique(data.subsets) if subset not in SETS)):
        mask = data.sets == name if name in SETS else data.subsets == name
        train, test = take(data, ~mask), take(data, mask)
        model = fit(train)
        found = scores(model, test.features)
        labels = test.labels
        results[str(name)] = (round(balanced_accuracy(found >= THRESHOLD, labels), 1), round(auroc(found, labels), 1))
    return results


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.data
    data = read(folder, SETS)
    report = {"cross-validated": cross_validated(data), "left out": left_out(data)}
    print(json.dumps(report))
    model = fit(data)
    print(dict(zip(model.features, model.weights, strict=True)))
    if arguments.write:
        content = {
            "fixed by": "benchmarks/verify/fit.py",
            "fixed on": {
                f"{name}/claims.jsonl": hashlib.sha256((folder / name / "claims.jsonl").read_bytes()).hexdigest()
                for name in SETS
            },
            "balanced accuracy": report,
            "threshold": THRESHOLD,
            "partial threshold": round(0.6 * THRESHOLD, 4),
            "support": model.model_dump(mode="json"),
        }
        OUT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
