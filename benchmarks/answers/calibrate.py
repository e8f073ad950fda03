"""Fit the extractive synthesizer: which sentence answers best, and whether that one answers at all.

    python benchmarks/answers/calibrate.py DATA [--write]

Answerable: the sample questions over the whole chain, and questions of DATA/xquad/en and DATA/rgb over what BM25
and the embedder find (top 8). Unanswerable: the eight sample questions without an answer; the other questions with
their gold passages left out of the corpus, so that the nearest other passages are what is read.
Both models are linear over `relevance.SIGNALS`, each slope held to the sign that it must have by its meaning, so that
a data set cannot teach it nonsense. Prints, for each set held out in turn and for one that is never fitted on
(tests/synthesize/ferry), how often the first sentence holds the answer, the AUC, and the share that abstains when
9.4 % (3 of 32) of the answerable are refused; `--write` stores what all sets give in the package (extractive.json).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cases import EMBEDDER, Case, chain_cases, rgb_cases, xquad_cases
from langchain_core.documents import Document
from logistic import fit_logistic
from scipy.optimize import minimize
from scipy.stats import mannwhitneyu

from rag_app.sample import documents_path, questions_path
from rag_app.synthesize.relevance import SIGNALS, signals, units_of

LOW = ("names_missing", "names_away", "type_missing", "measure_missing", "asks", "fragment")
VECTORS = ("cosine", "cosine_near", "cosine_head")
RANK = (
    "cover_unit",
    "cover_context",
    *VECTORS,
    "type_missing",
    "measure_missing",
    "names_away",
    "first",
    "asks",
    "fragment",
)
DECIDE = (
    "cover_context",
    "cosine_head",
    "in_document",
    "names_missing",
    "names_away",
    "type_missing",
    "measure_missing",
)
XQUAD = {"en": 45}
RGB = 25
FERRY = Path(__file__).parents[2] / "tests/synthesize/ferry"
REFUSED = 0.094


def is_gold(document: Document, start: int, end: int, gold: list[tuple[str, int, int]]) -> bool:
    offset = int(document.metadata.get("start_index") or 0)
    source = document.metadata["source"]
    return any(source == s and start + offset < b and a < end + offset for s, a, b in gold)


def measured(one: Case) -> tuple[str, bool, np.ndarray, np.ndarray]:
    """(set, answerable, signals, which units hold gold)."""
    units = units_of(one["evidence"])
    table = signals(
        one["question"],
        one["evidence"],
        units,
        candidates=one["candidates"],
        embed=lambda texts, query: EMBEDDER.encode(texts, query=query),
    )
    right = [is_gold(one["evidence"][u.number - 1], u.span.start, u.span.end, one["gold"]) for u in units]
    return one["set"], bool(one["gold"]), table, np.array(right, dtype=bool)


def places_of(names: Sequence[str], skip: Sequence[str]) -> list[int]:
    return [SIGNALS.index(name) for name in names if name not in skip]


def bounds(places: list[int]) -> list[tuple[float | None, float | None]]:
    return [(None, 0) if SIGNALS[place] in LOW else (0, None) for place in places]


def spread(slopes: np.ndarray, places: list[int]) -> np.ndarray:
    full = np.zeros(len(SIGNALS))
    full[places] = slopes
    return full


def fit_rank(cases: list[Any], places: list[int], strength: float = 1.0) -> np.ndarray:
    """Slopes by conditional logit: the gold units of a question against its other units."""
    rows = [(table[:, places], right) for _, _, table, right in cases if right.any() and not right.all()]
    deviation = np.vstack([table for table, _ in rows]).std(0) + 1e-9

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = 0.5 / strength * float(theta @ theta), theta / strength
        for table, right in rows:
            z = table / deviation
            score = np.exp(z @ theta - (z @ theta).max())
            share = score / score.sum()
            held = (share * right).sum() + 1e-12
            value -= float(np.log(held))
            slope = slope + z.T @ (share - share * right / held)
        return value, slope

    theta = minimize(loss, np.zeros(len(places)), jac=True, bounds=bounds(places), method="L-BFGS-B").x
    return spread(theta / deviation, places)


def first_rows(cases: list[Any], rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The signals of each question's first unit, and whether it holds gold."""
    best = [int((table @ rank).argmax()) for _, _, table, _ in cases]
    chosen = [(table[place], right[place]) for place, (_, _, table, right) in zip(best, cases, strict=True)]
    return np.array([row for row, _ in chosen]), np.array([right for _, right in chosen])


def fit_decide(
    cases: list[Any], rank: np.ndarray, places: list[int], strength: float = 0.3
) -> tuple[np.ndarray, float]:
    """Slopes and intercept by logistic loss on first units; sets weigh the same, the sample three times."""
    x = first_rows(cases, rank)[0][:, places]
    y = np.array([1.0 if answerable else -1.0 for _, answerable, _, _ in cases])
    count = Counter((name, answerable) for name, answerable, _, _ in cases)
    w = np.array([(60 if name == "sample" else 20) / count[name, answerable] for name, answerable, _, _ in cases])
    slopes, intercept = fit_logistic(x, y, w, bounds(places), strength=strength)
    return spread(slopes, places), intercept


def fit(cases: list[Any], skip: Sequence[str]) -> tuple[np.ndarray, np.ndarray, float]:
    rank = fit_rank(cases, places_of(RANK, skip))
    return rank, *fit_decide(cases, rank, places_of(DECIDE, skip))


def scores(model: tuple[np.ndarray, np.ndarray, float], cases: list[Any]) -> list[float]:
    return [float(score) for score in first_rows(cases, model[0])[0] @ model[1] + model[2]]


def cut(right: list[float]) -> float:
    """The score that refuses REFUSED of the answerable: between the last refused and the first kept."""
    place = int(REFUSED * len(right))
    ranked = sorted(right)
    return (ranked[place - 1] + ranked[place]) / 2 if place else ranked[0] - 0.01


def least_cut(right: list[float], wrong: list[float]) -> float:
    """The least score at which three quarters of the unanswerable abstain: halfway to the next higher score."""
    place = sorted(wrong)[-(-3 * len(wrong) // 4) - 1]
    return (place + min((score for score in [*right, *wrong] if score > place), default=place + 0.02)) / 2


def report(name: str, held: str, model: tuple[np.ndarray, np.ndarray, float], cases: list[Any]) -> None:
    good, bad = ([c for c in cases if c[0] == held and c[1] is answerable] for answerable in (True, False))
    right, wrong = scores(model, good), scores(model, bad)
    first = float(first_rows(good, model[0])[1].mean())
    auc = float(mannwhitneyu(right, wrong).statistic / (len(right) * len(wrong)))
    share = sum(value < cut(right) for value in wrong) / len(wrong)
    row = {"model": name, "held_out": held, "first": first, "auc": auc, "abstained": share}
    print(json.dumps({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data, rng = options.data, random.Random(7)
    cases = chain_cases("sample", documents_path(), questions_path())
    for language, count in XQUAD.items():
        cases += xquad_cases(data, language, count, rng)
    cases += rgb_cases(data, RGB)
    table = [m for m in map(measured, cases) if len(m[2])]
    never = [
        m for m in map(measured, chain_cases("ferry", FERRY / "documents", FERRY / "questions.jsonl")) if len(m[2])
    ]
    files = [questions_path(), *(data / f"xquad/{lang}/qa.jsonl" for lang in XQUAD), data / "rgb/en_fact/qa.jsonl"]
    names = ["sample/questions.jsonl", *(f"xquad/{lang}/qa.jsonl" for lang in XQUAD), "rgb/en_fact/qa.jsonl"]
    fitted: dict[str, Any] = {
        "fixed_by": "benchmarks/answers/calibrate.py",
        "fixed_on": {
            name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in zip(names, files, strict=True)
        },
    }
    for name, skip in (("vectors", ()), ("words", VECTORS)):
        for held in sorted({each[0] for each in table}):
            report(name, held, fit([each for each in table if each[0] != held], skip), table)
        model = fit(table, skip)
        report(name, "ferry", model, never)
        rank, decide, intercept = model
        sample = [[each for each in table if each[0] == "sample" and each[1] is yes] for yes in (True, False)]
        threshold = least_cut(scores(model, sample[0]), scores(model, sample[1]))
        fitted[name] = {
            "threshold": round(float(1 / (1 + np.exp(-threshold))), 4),
            "intercept": round(intercept, 4),
            "rank": {SIGNALS[p]: round(float(rank[p]), 4) for p in np.flatnonzero(rank)},
            "decide": {SIGNALS[p]: round(float(decide[p]), 4) for p in np.flatnonzero(decide)},
        }
    if options.write:
        target = Path(__file__).parents[2] / "rag_app/synthesize/extractive.json"
        target.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
