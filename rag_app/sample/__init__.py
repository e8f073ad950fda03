"""The sample corpus: documents of an invented maker of pumps and filters, and 40 questions about them.

Everything here was written for this package: the company, its people, products and numbers do not exist. Some facts
stand in two documents and disagree, some sentences stand in two files, and eight of the questions have no answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rag_app.jsonable import lines_of
from rag_app.types import Span

DEMO_QUESTIONS = (
    "If I'm out sick, when do I have to bring in a note from my doctor?",
    "What is the hottest water that an MX-400 can take?",
    "Does the company pay for a gym membership?",
)
"""Answered by a handbook in Markdown; by a PDF, a web page and a bulletin that disagree; and by no document."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A passage that answers: `quote` is the text of document `source` at `span`, to the character."""

    source: str
    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the answer a careful reader would give, and where it stands.

    `kind`: number | name | date | policy | table | csv | code | german | conflict | two_documents | unanswerable |
    off_topic. Of the kinds conflict and two_documents, all gold passages belong to the answer; of the others, each
    passage alone answers the question. Questions that are not answerable have no gold passage.
    """

    id: str
    question: str
    answer: str
    answerable: bool
    kind: str
    gold: tuple[Gold, ...] = ()


def documents_path() -> Path:
    """The folder of the sample documents; hand it to a loader or to `rag-app index`."""
    return Path(__file__).parent / "documents"


def questions_path() -> Path:
    """The questions as JSON lines: {"id", "question", "answer", "answerable", "gold", "kind"}."""
    return Path(__file__).parent / "questions.jsonl"


def questions() -> list[Question]:
    """The 40 questions in the order of the file; the offsets of their gold passages are those of the loaded text."""
    rows = [json.loads(line) for _, line in lines_of(questions_path().read_text(encoding="utf-8"))]
    return [
        Question(
            id=row["id"],
            question=row["question"],
            answer=row["answer"],
            answerable=row["answerable"],
            kind=row["kind"],
            gold=tuple(Gold(g["source"], Span(g["start"], g["end"]), g["quote"]) for g in row["gold"]),
        )
        for row in rows
    ]


__all__ = ["DEMO_QUESTIONS", "Gold", "Question", "documents_path", "questions", "questions_path"]
