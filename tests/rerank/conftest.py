"""Candidates with a history, and small real encoders."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document

from rag_app.trace import Ranked, RetrievalTrace, annotate
from rag_app.types import Hit

TEXTS = [
    "Reset the pump.",
    "The holiday list.",
    "Pump service takes an hour.",
    "Cats sleep.",
    "A pump, a pump, a pump.",
]


class Table(BaseCrossEncoder):
    """An encoder that knows its scores by heart."""

    def __init__(self, scores: Sequence[float]) -> None:
        self.scores = list(scores)
        self.asked: list[int] = []

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        self.asked.append(len(text_pairs))
        return [self.scores[TEXTS.index(passage)] for _, passage in text_pairs]


@pytest.fixture
def candidates() -> Ranked:
    trace = RetrievalTrace("pump").add("rrf", [Hit(f"c{i}", 1 / (60 + i), i) for i in range(1, 6)])
    documents = [Document(id=f"c{i}", page_content=text, metadata={"n": i}) for i, text in enumerate(TEXTS, start=1)]
    return Ranked(annotate(documents, trace), trace)


@pytest.fixture
def table() -> type[Table]:
    return Table
