"""Fit the extractive synthesizer's weights: which sentence answers, and when none does.

    python benchmarks/answers/calibrate.py DATA [--write] [--threshold .58]

Answerable: the sample questions and questions of DATA/xquad/en, over what BM25 and the embedder find (top 8).
Unanswerable: the eight sample questions without an answer; xquad questions with their paragraph left out of the corpus;
any question with its gold sentences cut out of the evidence; any question with a name or number swapped for another.
The model is logistic over `relevance.SIGNALS`, each slope held to the sign that it must have by its meaning, so that a
data set cannot teach it nonsense. Prints, for each set held out in turn, the AUC and the share abstained when a tenth
of the answerable is refused; `--write` stores the weights of all sets in rag_app/synthesize/extractive.json.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from rank_bm25 import BM25Plus
from scipy.optimize import minimize
from scipy.stats import mannwhitneyu

from rag_app.cite.align import quotable_units
from rag_app.embed import default_embedding
from rag_app.load import Loader
from rag_app.sample import documents_path, questions
from rag_app.split import ProfileSplitter
from rag_app.synthesize.relevance import SIGNALS, signals, units_of
from rag_app.text import Analyzer

SIGNS = (
    dict.fromkeys(SIGNALS, 1)
    | dict.fromkeys(
        ("scattered", "absent", "names_missing", "misled", "misled_sum", "echoed", "type_missing", "fragment"), -1
    )
    | {"news": 0}
)
VECTORS = {"cosine", "cosine_near", "misled", "misled_sum", "echoed"}
EMBEDDER = default_embedding()
WORD = re.compile(r"\w[\w.'’/-]*\w|\w")


def retrieve(chunks: list[Document], asked: list[str]) -> list[list[Document]]:
    """The first 30 chunks of each question by reciprocal rank fusion of BM25 and cosine."""
    analyzer = Analyzer()
    vectors = EMBEDDER.encode([chunk.page_content for chunk in chunks])
    bm25 = BM25Plus([analyzer.terms(chunk.page_content, language="none") for chunk in chunks])
    found = []
    for question, vector in zip(asked, EMBEDDER.encode(asked, query=True), strict=True):
        scores: dict[int, float] = {}
        for ranking in (vectors @ vector, bm25.get_scores(analyzer.terms(question, language="none"))):
            for rank, place in enumerate(np.argsort(-ranking, kind="stable")[:40], start=1):
                scores[int(place)] = scores.get(int(place), 0.0) + 1 / (60 + rank)
        found.append([chunks[place] for place in sorted(scores, key=lambda place: -scores[place])[:30]])
    return found


def case(name: str, question: str, found: list[Document], gold: list[tuple[str, int, int]]) -> dict[str, Any]:
    return {"set": name, "question": question, "evidence": found[:8], "candidates": found, "gold": gold}


def sample_cases() -> list[dict[str, Any]]:
    splitter = ProfileSplitter().bind(
        count_tokens=EMBEDDER.count_tokens, max_tokens=EMBEDDER.max_tokens, embeddings=EMBEDDER
    )
    chunks = splitter.transform_documents(list(Loader(paths=[str(documents_path())]).lazy_load()))
    asked = questions()
    found = retrieve(list(chunks), [question.question for question in asked])
    return [
        case("sample", q.question, f, [(g.source, *g.span) for g in q.gold]) for q, f in zip(asked, found, strict=True)
    ]


def xquad_cases(data: Path, count: int, rng: random.Random) -> list[dict[str, Any]]:
    def rows(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (data / "xquad/en" / name).read_text(encoding="utf-8").splitlines()]

    chunks = [Document(r["text"], id=r["_id"], metadata={"source": r["_id"]}) for r in rows("corpus.jsonl")]
    asked = rng.sample(rows("qa.jsonl"), count)
    cases = []
    for row, found in zip(asked, retrieve(chunks, [row["question"] for row in asked]), strict=True):
        start = row["answer_start"]
        cases.append(case("xquad", row["question"], found, [(row["doc_id"], start, start + len(row["answers"][0]))]))
        rest = [chunk for chunk in found if chunk.metadata["source"] != row["doc_id"]]
        cases.append(case("xquad", row["question"], rest, []))
    return cases


def is_gold(document: Document, start: int, end: int, gold: list[tuple[str, int, int]]) -> bool:
    offset = int(document.metadata.get("start_index") or 0)
    source = document.metadata["source"]
    return any(source == s and start + offset < b and a < end + offset for s, a, b in gold)


def without_gold(one: dict[str, Any]) -> dict[str, Any]:
    """The case with its gold sentences cut out of the evidence."""
    evidence = []
    for document in one["evidence"]:
        text = document.page_content
        for span in reversed(quotable_units(text)):
            if is_gold(document, span.start, span.end, one["gold"]):
                text = text[: span.start] + text[span.end :]
        evidence.append(Document(text, id=document.id, metadata=document.metadata))
    return {**one, "set": f"{one['set']}-cut", "evidence": evidence, "gold": []}


def swapped(one: dict[str, Any], pool: list[str], rng: random.Random) -> dict[str, Any] | None:
    """The case with a name or number of the question swapped for one that the evidence does not have."""
    places = [
        m for m in WORD.finditer(one["question"]) if m.start() and (m.group()[0].isupper() or m.group()[0].isdigit())
    ]
    if not places:
        return None
    place = rng.choice(places)
    text = " ".join(document.page_content for document in one["evidence"])
    others = [w for w in pool if w[0].isdigit() == place.group()[0].isdigit() and w not in text and w != place.group()]
    if not others:
        return None
    question = one["question"][: place.start()] + rng.choice(others) + one["question"][place.end() :]
    return {**one, "set": f"{one['set']}-swap", "question": question, "gold": []}


def measured(one: dict[str, Any]) -> tuple[str, bool, np.ndarray, np.ndarray]:
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


def fit(cases: list[Any], columns: list[int], strength: float = 0.3) -> tuple[float, np.ndarray]:
    """Intercept and slopes by penalized logistic loss with signs held; hard negatives weigh five times."""
    tables, labels, weights = [], [], []
    for _, answerable, table, right in cases:
        if not len(table) or (answerable and not right.any()):
            continue
        hard = table[:, 0] >= np.sort(table[:, 0])[-3:].min()
        weight = 0.5 / len(right) * (1 + 4 * hard)
        weights.append(weight + (right * 2.0 / right.sum() if right.any() else 0))
        tables.append(table[:, columns])
        labels.append(np.where(right, 1.0, -1.0))
    x, y, w = np.vstack(tables), np.concatenate(labels), np.concatenate(weights)
    mean, deviation = x.mean(0), x.std(0) + 1e-9
    z = (x - mean) / deviation

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        margin = -y * (z @ theta[1:] + theta[0])
        slope = -y / (1 + np.exp(-margin)) * w
        value = (w * np.logaddexp(0, margin)).sum() + 0.5 / strength * (theta[1:] ** 2).sum()
        return value, np.r_[slope.sum(), z.T @ slope + theta[1:] / strength]

    sign = {1: (0, None), -1: (None, 0), 0: (None, None)}
    bounds = [(None, None), *(sign[SIGNS[SIGNALS[column]]] for column in columns)]
    theta = minimize(loss, np.zeros(len(columns) + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    slopes = np.zeros(len(SIGNALS))
    slopes[columns] = theta[1:] / deviation
    return float(theta[0] - (theta[1:] / deviation * mean).sum()), slopes


def best(model: tuple[float, np.ndarray], cases: list[Any]) -> list[float]:
    return [float((model[0] + table @ model[1]).max()) if len(table) else -30.0 for _, _, table, _ in cases]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--threshold", type=float, default=0.58)
    options = parser.parse_args()
    rng = random.Random(1)
    cases = [*sample_cases(), *xquad_cases(options.data, 160, rng)]
    pool = [m.group() for one in cases for m in WORD.finditer(one["question"]) if m.start() and not m.group().islower()]
    good = [one for one in cases if one["gold"]]
    cases += [without_gold(one) for one in good]
    cases += [made for one in good if (made := swapped(one, pool, rng))]
    table = [measured(one) for one in cases]
    fitted = {}
    for name, columns in (
        ("vectors", list(range(len(SIGNALS)))),
        ("words", [i for i, signal in enumerate(SIGNALS) if signal not in VECTORS]),
    ):
        for held in ("sample", "xquad"):
            model = fit([c for c in table if not c[0].startswith(held)], columns)
            right = best(model, [c for c in table if c[0] == held and c[1]])
            cut = sorted(right)[int(0.094 * len(right))]
            for kind in (held, f"{held}-cut", f"{held}-swap"):
                wrong = best(model, [c for c in table if c[0] == kind and not c[1]])
                auc = mannwhitneyu(right, wrong).statistic / (len(right) * len(wrong))
                share = sum(value < cut for value in wrong) / len(wrong)
                print(json.dumps({"model": name, "held_out": kind, "auc": round(auc, 3), "abstained": round(share, 3)}))
        intercept, slopes = fit(table, columns)
        named = {signal: round(float(slope), 4) for signal, slope in zip(SIGNALS, slopes, strict=True)}
        fitted[name] = {"threshold": options.threshold, "intercept": round(intercept, 4), "slopes": named}
    if options.write:
        target = Path(__file__).parents[2] / "rag_app/synthesize/extractive.json"
        target.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
