"""Questions with what a synthesizer is given for them, for `calibrate.py`: with the gold passages, and without them."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from pydantic import PrivateAttr
from rank_bm25 import BM25Plus

from rag_app.embed import default_embedding
from rag_app.pipeline import build_chain, build_index
from rag_app.settings import Settings
from rag_app.synthesize import Draft, ExtractiveSynthesizer
from rag_app.text import Analyzer

EMBEDDER = default_embedding()
Case = dict[str, Any]


class Recorder(ExtractiveSynthesizer):
    """Keeps what it is asked."""

    _asked: list[Mapping[str, Any]] = PrivateAttr(default_factory=list)

    def draft(self, inputs: Mapping[str, Any]) -> Draft:
        self._asked.append(inputs)
        return super().draft(inputs)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def chain_cases(name: str, documents: Path, asked: Path) -> list[Case]:
    """What the synthesizer is given for each question over the whole chain with default settings."""
    recorder = Recorder()
    settings = Settings().model_copy(update={"synthesize": recorder})
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        index, _ = build_index(settings, [documents], f"{folder}/index")
        chain = build_chain(settings, index)
        for row in lines(asked):
            chain.invoke(row["question"])
            inputs = recorder._asked[-1]
            gold = [(g["source"], g["start"], g["end"]) for g in row["gold"]]
            cases.append(case(name, row["question"], inputs["evidence"], inputs.get("candidates") or (), gold))
    return cases


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


def case(name: str, question: str, evidence: Sequence[Document], more: Sequence[Document], gold: list[Any]) -> Case:
    return {"set": name, "question": question, "evidence": list(evidence), "candidates": list(more), "gold": gold}


def xquad_cases(data: Path, language: str, count: int, rng: random.Random) -> list[Case]:
    folder = data / "xquad" / language
    chunks = [Document(r["text"], id=r["_id"], metadata={"source": r["_id"]}) for r in lines(folder / "corpus.jsonl")]
    asked = rng.sample(lines(folder / "qa.jsonl"), count)
    cases = []
    for row, found in zip(asked, retrieve(chunks, [row["question"] for row in asked]), strict=True):
        start, name = row["answer_start"], f"xquad-{language}"
        gold = [(row["doc_id"], start, start + len(row["answers"][0]))]
        rest = [chunk for chunk in found if chunk.metadata["source"] != row["doc_id"]]
        cases += [case(name, row["question"], found[:8], found, gold), case(name, row["question"], rest[:8], rest, [])]
    return cases


def rgb_cases(data: Path, count: int) -> list[Case]:
    folder = data / "rgb/en_fact"
    chunks = [Document(r["text"], id=r["_id"], metadata={"source": r["_id"]}) for r in lines(folder / "corpus.jsonl")]
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, _ = line.split("\t")
        relevant.setdefault(question, set()).add(document)
    asked = lines(folder / "qa.jsonl")[:count]
    cases = []
    for row, found in zip(asked, retrieve(chunks, [row["question"] for row in asked]), strict=True):
        nested = [a if isinstance(a, list) else [a] for a in row["answers"]]
        answers = [answer.casefold() for each in nested for answer in each]
        places = [
            (str(c.id), c.page_content.casefold().find(a), c.page_content.casefold().find(a) + len(a))
            for c in found[:8]
            for a in answers
            if c.id in relevant[row["id"]] and a in c.page_content.casefold()
        ]
        rest = [
            c
            for c in found
            if c.id not in relevant[row["id"]] and not any(a in c.page_content.casefold() for a in answers)
        ]
        if places:
            cases.append(case("rgb", row["question"], found[:8], found, places))
            cases.append(case("rgb", row["question"], rest[:8], rest, []))
    return cases
