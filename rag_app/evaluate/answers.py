"""Answers measured against gold: citation precision and recall, support, abstention, exact match and F1."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag_app.answer import CONFLICT_WARNING, Answer
from rag_app.cite import parse_markers
from rag_app.evaluate import claims
from rag_app.types import ConfigError

_ARTICLES = re.compile(r"\b(?:a|an|the|der|die|das|ein|eine)\b")
_CJK = re.compile(r"([\u3040-\u9fff\uac00-\ud7af])")


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """A question with its right answers; `passages` are quotes that a citation may rest on.

    `other_answers` are what sources that disagree say.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    answerable: bool = True
    passages: tuple[str, ...] = ()
    other_answers: tuple[str, ...] = ()


Row = tuple[GoldAnswer, Answer]


def read_gold(rows: Iterable[Mapping[str, Any]]) -> list[GoldAnswer]:
    """Gold answers from JSON rows.

    A row is {"id", "question", "answers" or "answer", "answerable"?, "gold"? or "passages"?, "other_answers"?}; an
    answer may be a list of ways to write it.
    """
    gold: list[GoldAnswer] = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping) or not isinstance(row.get("question"), str):
            raise ConfigError(f"line {number} of the questions has no 'question'; write one as a string")
        answers, others = strings(row.get("answers", row.get("answer"))), strings(row.get("other_answers"))
        passages = [
            p if isinstance(p, str) else str(p.get("quote", "")) for p in row.get("passages", row.get("gold", ()))
        ]
        answerable = bool(row.get("answerable", bool(answers)))
        name = str(row.get("id", row.get("_id", number)))
        gold.append(GoldAnswer(name, row["question"], answers, answerable, tuple(filter(None, passages)), others))
    return gold


def strings(value: Any) -> tuple[str, ...]:
    """The strings of a value: itself, or those of a list, however deep."""
    if isinstance(value, (list, tuple)):
        return tuple(text for item in value for text in strings(item))
    return () if value is None else (str(value),)


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
    """Ask every question and measure (`measure_answers`)."""
    return measure_answers(ask_all(ask, gold, progress=progress))


def ask_all(
    ask: Callable[[str], Answer], gold: Sequence[GoldAnswer], *, progress: Callable[[int, int, str], None] | None = None
) -> list[Row]:
    """Every question with its answer."""
    rows: list[Row] = []
    for number, item in enumerate(gold, start=1):
        rows.append((item, ask(item.question)))
        if progress is not None:
            progress(number, len(gold), "questions")
    return rows


def measure_answers(rows: Sequence[Row]) -> dict[str, Any]:
    """One object of shares in [0, 1], None where there is nothing to divide by.

    Citation precision is the share of citations that rest on gold, recall the share of answered questions with at
    least one such citation; support is the share of factual claims that are supported; `wrongly_answered` are
    unanswerable questions that got an answer, `wrongly_refused` answerable ones that got none; `right` is the share of
    questions that were answered from gold or rightly refused. `conflicts`: see `conflict_measures`.
    """
    answered = [(g, a) for g, a in rows if g.answerable and not a.abstained]
    answerable, unanswerable = [g for g, _ in rows if g.answerable], [(g, a) for g, a in rows if not g.answerable]
    hits = [[cites_gold(citation.quote, g) for citation in a.citations] for g, a in answered]
    verdicts = [verdict for _, a in answered for verdict in a.verdicts if verdict.claim.kind == "factual"]
    texts = [(without_markers(a.text), g.answers) for g, a in answered]
    return {
        "questions": len(rows),
        "answered": len(answered),
        "citation_precision": _share([hit for row in hits for hit in row]),
        "citation_recall": _share([any(row) for row in hits]),
        "holds_answer": _share([holds_answer(*pair) for pair in texts]),
        "exact_match": _share([exact_match(*pair) for pair in texts]),
        "f1": _share([token_f1(*pair) for pair in texts]),
        "support": _share([verdict.label == "supported" for verdict in verdicts]),
        "phantoms": sum(len(a.phantoms) for _, a in rows),
        "wrongly_refused": len(answerable) - len(answered),
        "answerable": len(answerable),
        "wrongly_answered": sum(not a.abstained for _, a in unanswerable),
        "unanswerable": len(unanswerable),
        "right": _share([is_right(g, a) for g, a in rows]),
        "abstentions": dict(sorted(Counter(a.abstention_reason for _, a in rows if a.abstention_reason).items())),
        "conflicts": conflict_measures(rows),
        "confidence": confidence_measures(rows),
        "risk_coverage": risk_coverage(rows),
    }


def without_markers(text: str) -> str:
    """The text without citation markers, as it is compared with gold."""
    return parse_markers(text, 0).text


def is_right(gold: GoldAnswer, answer: Answer) -> bool:
    """Whether an answerable question was answered from gold, or an unanswerable one refused."""
    if answer.abstained or not gold.answerable:
        return answer.abstained and not gold.answerable
    return any(cites_gold(citation.quote, gold) for citation in answer.citations)


def names_conflict(answer: Answer) -> bool:
    """Whether the answer says that its sources disagree, or abstained because they do."""
    return any(warning.startswith(CONFLICT_WARNING) for warning in answer.warnings)


def conflict_measures(rows: Sequence[Row]) -> dict[str, Any]:
    """How disagreement is told, over the questions that were not refused for another reason.

    Of `disputed` questions (with `other_answers`): the share whose answer names the conflict, the share that cites
    both versions, and the share whose text has the other version only, without a word; of the undisputed questions the
    share where a conflict is named all the same.
    """
    told = [(g, a) for g, a in rows if not a.abstained or a.abstention_reason == "sources_conflict"]
    disputed, plain = [p for p in told if p[0].other_answers], [p for p in told if not p[0].other_answers]
    versions = [(holds_answer(a.text, g.answers), holds_answer(a.text, g.other_answers)) for g, a in disputed]
    return {
        "disputed": len(disputed),
        "named": _share([names_conflict(a) for _, a in disputed]),
        "both_versions": _share([true and other for true, other in versions]),
        "other_only": _share(
            [o and not t and not names_conflict(a) for (t, o), (_, a) in zip(versions, disputed, strict=True)]
        ),
        "undisputed": len(plain),
        "falsely_named": _share([names_conflict(a) for _, a in plain]),
    }


def confidence_measures(rows: Sequence[Row]) -> dict[str, Any]:
    """How far the confidence of the given answers can be believed.

    `mean` of it, and the share that is `right`: equal where it is calibrated; `brier`, the mean square of what lies
    between confidence and outcome (0 is perfect, 0.25 a coin flip's); `auroc`, the chance that a right answer is surer
    than a wrong one. Each None where it cannot be told.
    """
    judged = [(a.confidence, is_right(g, a)) for g, a in rows if not a.abstained and a.confidence is not None]
    sure, right = [confidence for confidence, _ in judged], [outcome for _, outcome in judged]
    mixed = len(set(right)) == 2
    return {
        "mean": _share(sure),
        "right": _share(right),
        "brier": _share([(confidence - outcome) ** 2 for confidence, outcome in judged]),
        "auroc": claims.auroc(np.asarray(sure), np.asarray(right)) / 100 if mixed else None,
    }


def risk_coverage(rows: Sequence[Row]) -> list[dict[str, float]]:
    """The curve from the surest answers to all that were given: thresholds, coverage and risk (Geifman, El-Yaniv 2017).

    Coverage is the share of all questions that are answered at the threshold; risk the share of those answers that
    are wrong (not from gold, or to an unanswerable question). What was refused is covered by no point.
    """
    judged = [(a.confidence, is_right(g, a)) for g, a in rows if not a.abstained and a.confidence is not None]
    steps = claims.risk_coverage([sure for sure, _ in judged], [right for _, right in judged])
    share = len(judged) / len(rows) if rows else 0.0
    return [
        {"coverage": step.coverage * share, "risk": step.risk, "threshold": step.threshold}
        for step in claims.thinned(steps, 11)
    ]


def answer_row(gold: GoldAnswer, answer: Answer, **more: Any) -> dict[str, Any]:
    """A question and what became of it, as JSON values: what `calibrate_answers` reads."""
    return {
        "id": gold.id,
        "question": gold.question,
        "answerable": gold.answerable,
        "abstained": answer.abstained,
        "reason": answer.abstention_reason,
        "confidence": answer.confidence,
        "right": is_right(gold, answer),
        "conflict": names_conflict(answer),
        "text": answer.text,
        **more,
    }


def calibrate_answers(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each reranker and synthesizer of the rows, the threshold that best tells what can be answered.

    The threshold has the greatest balanced accuracy on "answerable". Rows that a threshold does not decide (nothing was
    found, the model declined, the claims were not supported) take no part. ConfigError when the others are all of one
    kind.
    """
    by_kinds: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row.get("answerable"), bool):
            raise ConfigError(f'row {number} of the answers has no "answerable"; write true or false')
        pairs = by_kinds.setdefault((str(row.get("reranker", "")), str(row.get("synthesizer", ""))), [])
        decided = not row.get("abstained") or row.get("reason") == "below_threshold"
        if decided and isinstance(row.get("confidence"), (int, float)):
            pairs.append((float(row["confidence"]), row["answerable"]))
    found = []
    for (reranker, synthesizer), pairs in sorted(by_kinds.items()):
        scores, labels = [score for score, _ in pairs], [int(label) for _, label in pairs]
        try:
            report = claims.calibrated_threshold(scores, labels)
        except ValueError:
            raise ConfigError(
                f"the answers with reranker {reranker or '(none named)'} have {sum(labels)} answerable and "
                f"{len(labels) - sum(labels)} unanswerable questions that a threshold decides; give some of both"
            ) from None
        report["threshold"] = between(scores, report["threshold"])
        kinds = {"reranker": reranker, "synthesizer": synthesizer}
        settings = [f"rerank.kind={reranker}"] * bool(reranker) + [f"synthesize.kind={synthesizer}"] * bool(synthesizer)
        settings.append(f"synthesize.threshold={report['threshold']}")
        found.append({**kinds, "questions": len(pairs), "answerable": sum(labels), **report, "settings": settings})
    return found


def between(scores: Sequence[float], cut: float) -> float:
    """A threshold that cuts where `cut` does, halfway to the next lower score: rounding it refuses nobody."""
    cut = min((score for score in scores if round(score, 4) >= cut), default=cut)
    middle = (cut + max((score for score in scores if score < cut), default=cut)) / 2
    return math.floor(middle * 1e4) / 1e4


def _share(values: Sequence[float | bool]) -> float | None:
    return sum(values) / len(values) if values else None
