"""Answers measured against gold: citation precision and recall, support, abstention, exact match and F1."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_app.answer import Answer
from rag_app.types import ConfigError

_ARTICLES = re.compile(r"\b(?:a|an|the|der|die|das|ein|eine)\b")
_CJK = re.compile(r"([\u3040-\u9fff\uac00-\ud7af])")


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """A question with its right answers; `passages` are quotes that a citation may rest on."""

    id: str
    question: str
    answers: tuple[str, ...] = ()
    answerable: bool = True
    passages: tuple[str, ...] = ()


def read_gold(rows: Iterable[Mapping[str, Any]]) -> list[GoldAnswer]:
    """Gold answers from JSON rows: {"id", "question", "answers" or "answer", "answerable"?, "gold"? or "passages"?}."""
    gold: list[GoldAnswer] = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row.get("question"), str):
            raise ConfigError(f"line {number} of the questions has no 'question'; write one as a string")
        answers = row.get("answers", row.get("answer"))
        answers = [answers] if isinstance(answers, str) else list(answers or ())
        passages = [
            p if isinstance(p, str) else str(p.get("quote", "")) for p in row.get("passages", row.get("gold", ()))
        ]
        answerable = bool(row.get("answerable", bool(answers)))
        name = str(row.get("id", row.get("_id", number)))
        gold.append(
            GoldAnswer(name, row["question"], tuple(map(str, answers)), answerable, tuple(filter(None, passages)))
        )
    return gold


def normal_words(text: str) -> list[str]:
    """Words as SQuAD compares them: lower case, no punctuation, no articles; CJK by character."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = "".join(" " if unicodedata.category(char)[0] == "P" else char for char in text)
    return _CJK.sub(r" \1 ", _ARTICLES.sub(" ", text)).split()


def exact_match(text: str, answers: Sequence[str]) -> float:
    """1 when the text is one of the answers, after normalization."""
    words = normal_words(text)
    return float(any(words == normal_words(answer) for answer in answers))


def token_f1(text: str, answers: Sequence[str]) -> float:
    """The best harmonic mean of word precision and recall over the answers (SQuAD)."""
    return max((_f1(normal_words(text), normal_words(answer)) for answer in answers), default=0.0)


def _f1(found: Sequence[str], wanted: Sequence[str]) -> float:
    common = sum((Counter(found) & Counter(wanted)).values())
    return 2 * common / (len(found) + len(wanted)) if common else 0.0


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether the words of an answer stand in the text in one piece."""
    words = f" {' '.join(normal_words(text))} "
    return any(f" {' '.join(normal_words(answer))} " in words for answer in answers if normal_words(answer))


def cites_gold(quote: str, gold: GoldAnswer) -> bool:
    """Whether a quote overlaps a gold passage, or holds an answer where there are no passages."""
    if not gold.passages:
        return holds_answer(quote, gold.answers)
    quoted = " ".join(quote.split())
    return any(passage in quoted or quoted in passage for passage in (" ".join(p.split()) for p in gold.passages))


def evaluate_answers(
    ask: Callable[[str], Answer], gold: Sequence[GoldAnswer], *, progress: Callable[[int, int, str], None] | None = None
) -> dict[str, Any]:
    """Ask every question and measure: one object of shares in [0, 1], None where there is nothing to divide by.

    Citation precision is the share of citations that rest on gold, recall the share of answered questions with at
    least one such citation; support is the mean share of supported claims; `wrongly_answered` are unanswerable
    questions that got an answer, `wrongly_refused` answerable ones that got none.
    """
    rows: list[tuple[GoldAnswer, Answer]] = []
    for number, item in enumerate(gold, start=1):
        rows.append((item, ask(item.question)))
        if progress is not None:
            progress(number, len(gold), "questions")
    answered = [(g, a) for g, a in rows if g.answerable and not a.abstained]
    answerable, unanswerable = [g for g, _ in rows if g.answerable], [(g, a) for g, a in rows if not g.answerable]
    hits = [[cites_gold(citation.quote, g) for citation in a.citations] for g, a in answered]
    supported = [verdict.label == "supported" for _, a in answered for verdict in a.verdicts]
    return {
        "questions": len(rows),
        "answered": len(answered),
        "citation_precision": _share([hit for row in hits for hit in row]),
        "citation_recall": _share([any(row) for row in hits]),
        "holds_answer": _share([holds_answer(a.text, g.answers) for g, a in answered]),
        "exact_match": _share([exact_match(a.text, g.answers) for g, a in answered]),
        "f1": _share([token_f1(a.text, g.answers) for g, a in answered]),
        "support": _share(supported),
        "phantoms": sum(len(a.phantoms) for _, a in rows),
        "wrongly_refused": len(answerable) - len(answered),
        "answerable": len(answerable),
        "wrongly_answered": sum(not a.abstained for _, a in unanswerable),
        "unanswerable": len(unanswerable),
        "risk_coverage": risk_coverage(rows),
    }


def risk_coverage(rows: Sequence[tuple[GoldAnswer, Answer]]) -> list[dict[str, float]]:
    """What share would be answered at each confidence, and what share of those answers would be wrong."""
    judged = [
        (a.confidence, not (g.answerable and any(cites_gold(c.quote, g) for c in a.citations)))
        for g, a in rows
        if a.confidence is not None
    ]
    judged.sort(key=lambda pair: -pair[0])
    curve = []
    for place in sorted({max(1, round(len(judged) * step / 10)) for step in range(1, 11)}) if judged else ():
        risk = sum(wrong for _, wrong in judged[:place]) / place
        curve.append({"coverage": place / len(judged), "risk": risk, "threshold": judged[place - 1][0]})
    return curve


def _share(values: Sequence[float | bool]) -> float | None:
    return sum(values) / len(values) if values else None
