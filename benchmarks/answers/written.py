"""Fit how sure an answer is that a chat model wrote (`rag_app.synthesize.confidence`): weights of its SIGNS.

    python benchmarks/answers/written.py DATA [--write]

No chat model runs here: the drafts are made from questions of DATA/xquad/en and DATA/rgb/en_fact, over the four
passages that BM25 finds, as a model would write them right and wrong. Right: the sentence that holds the answer, with
and without a marker, and "The answer is ... [n]." Wrong: the same with the answer of another question in its place, a
sentence about something else, and all of the right ones where the passages that hold the answer were left out. Right
and wrong weigh the same, so that a confidence of 0.5 is a coin flip. No weight is below 0.
Prints, for each set held out in turn, the mean confidence beside the share that is right, the Brier score and the
AUROC, also of the best single sign; `--write` stores what both sets give in the package (written.json).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from logistic import fit_logistic
from rank_bm25 import BM25Plus
from scipy.stats import mannwhitneyu

from rag_app.evaluate.answers import holds_answer, strings
from rag_app.synthesize.base import draft_of
from rag_app.synthesize.confidence import SIGNS, evidence_chance, signs
from rag_app.synthesize.relevance import units_of
from rag_app.text import Analyzer
from rag_app.verify import Verifier

COUNT, SHOWN = 60, 4
Row = tuple[str, bool, list[float]]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def asked(folder: Path, rng: random.Random) -> Iterator[tuple[str, list[str], list[Document], list[Document]]]:
    """(question, answers, passages with the answer among them, passages without it)."""
    chunks = [Document(r["text"], id=r["_id"], metadata={"source": r["_id"]}) for r in lines(folder / "corpus.jsonl")]
    analyzer = Analyzer()
    bm25 = BM25Plus([analyzer.terms(chunk.page_content, language="none") for chunk in chunks])
    for row in rng.sample(lines(folder / "qa.jsonl"), COUNT):
        answers = list(strings(row["answers"]))
        scores = bm25.get_scores(analyzer.terms(row["question"], language="none"))
        found = [chunks[place] for place in np.argsort(-scores, kind="stable")[:40]]
        without = [chunk for chunk in found if not holds_answer(chunk.page_content, answers)]
        if any(holds_answer(chunk.page_content, answers) for chunk in found[:SHOWN]) and len(without) >= SHOWN:
            yield row["question"], answers, found[:SHOWN], without[:SHOWN]


def drafts(
    answers: list[str], other: str, passages: list[Document], without: list[Document], rng: random.Random
) -> Iterator[tuple[bool, str, list[Document]]]:
    """(right, text, the passages that it cites) for one question."""
    units = units_of(passages)
    unit = next((unit for unit in units if holds_answer(unit.text, answers)), None)
    answer = next((a for a in answers if unit is not None and a.casefold() in unit.text.casefold()), None)
    if unit is None or answer is None:
        return
    sentence = " ".join(re.sub(r"\[\d+\]", "", unit.text).split()).rstrip(" .")
    swapped = re.sub(re.escape(answer), lambda _: other, sentence, flags=re.IGNORECASE)
    beside = [each for each in units if not holds_answer(each.text, answers)]
    yield True, f"{sentence} [{unit.number}].", passages
    yield True, f"{sentence}.", passages
    yield True, f"The answer is {answer} [{unit.number}].", passages
    yield False, f"{swapped} [{unit.number}].", passages
    yield False, f"The answer is {other} [{unit.number}].", passages
    if beside:
        wrong = rng.choice(beside)
        yield False, f"{' '.join(wrong.text.split()).rstrip(' .')} [{wrong.number}].", passages
    number = rng.randrange(SHOWN) + 1
    yield False, f"{sentence} [{number}].", without
    yield False, f"{sentence}.", without
    yield False, f"The answer is {answer} [{number}].", without


def rows_of(name: str, folder: Path, rng: random.Random) -> Iterator[Row]:
    """(set, right, signs) of every draft that makes a factual claim."""
    verifier = Verifier()
    questions = list(asked(folder, rng))
    for place, (question, answers, passages, without) in enumerate(questions):
        rest = questions[place + 1 :] + questions[:place]
        alike = [a for _, (a, *_), _, _ in rest if any(map(str.isdigit, a)) == any(map(str.isdigit, answers[0]))]
        other = next((a for a in alike if not holds_answer(a, answers) and not holds_answer(answers[0], [a])), "42")
        for right, text, shown in drafts(answers, other, passages, without, rng):
            chance = evidence_chance(question, shown)
            draft = draft_of(question, text, shown, attribute_uncited=0.5, confidence=chance, written=True)
            verdicts = verifier.invoke({"draft": draft, "question": question}).verdicts
            factual = [verdict for verdict in verdicts if verdict.claim.kind == "factual"]
            if factual:
                known = signs(draft, factual)
                yield name, right, [known[sign] for sign in SIGNS]


def fit(rows: list[Row], strength: float = 0.3) -> np.ndarray:
    """Intercept and weights by logistic loss; each set and outcome weighs the same."""
    x, y = np.array([row for _, _, row in rows]), np.array([1.0 if right else -1.0 for _, right, _ in rows])
    kinds = [(name, right) for name, right, _ in rows]
    w = np.array([60 / kinds.count(kind) for kind in kinds])
    slopes, intercept = fit_logistic(x, y, w, [(0, None)] * len(SIGNS), strength=strength)
    return np.r_[intercept, slopes]


def auroc(scores: np.ndarray, right: np.ndarray) -> float:
    return float(mannwhitneyu(scores[right], scores[~right]).statistic / (right.sum() * (~right).sum()))


def report(held: str, weights: np.ndarray, rows: list[Row]) -> None:
    x, right = np.array([row for _, _, row in rows]), np.array([outcome for _, outcome, _ in rows])
    sure = 1 / (1 + np.exp(-(weights[0] + x @ weights[1:])))
    w = np.where(right, 0.5 / right.mean(), 0.5 / (1 - right.mean()))
    best = max((auroc(column, right), sign) for column, sign in zip(x.T, SIGNS, strict=True))
    middle = (sure > 0.5).astype(bool)
    figures = {
        "held_out": held,
        "drafts": len(rows),
        "mean": float((sure * w).mean()),
        "right_above_half": float((right * w)[middle].sum() / w[middle].sum()),
        "mean_above_half": float((sure * w)[middle].sum() / w[middle].sum()),
        "brier": float(((sure - right) ** 2 * w).mean()),
        "auroc": auroc(sure, right),
        "best_sign": f"{best[1]} {best[0]:.3f}",
    }
    print(json.dumps({name: round(v, 3) if isinstance(v, float) else v for name, v in figures.items()}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = ("xquad/en", "rgb/en_fact")
    rows = [row for name in names for row in rows_of(name, options.data / name, random.Random(5))]
    for held in names:
        report(held, fit([row for row in rows if row[0] != held]), [row for row in rows if row[0] == held])
    intercept, *weights = (round(float(weight), 4) for weight in fit(rows))
    print(json.dumps({"intercept": intercept, **dict(zip(SIGNS, weights, strict=True))}))
    if options.write:
        files = {f"{name}/qa.jsonl": (options.data / name / "qa.jsonl").read_bytes() for name in names}
        fitted = {
            "fixed_by": "benchmarks/answers/written.py",
            "fixed_on": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
            "weights": {"intercept": intercept, **dict(zip(SIGNS, weights, strict=True))},
        }
        target = Path(__file__).parents[2] / "rag_app/synthesize/written.json"
        target.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
