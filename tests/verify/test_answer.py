"""Citation recall and precision by hand (Gao et al., ALCE, EMNLP 2023), with a judge told what supports what."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_app.types import Claim, Evidence, Span, Verdict
from rag_app.verify.answer import judge_statements
from rag_app.verify.source import IndexedSource
from rag_app.verify.statements import Statement

SOURCES = [IndexedSource(f"Source {n}.", str(n)) for n in range(1, 4)]


class Told:
    """Supports a claim with every set of sources that holds one of the sets given for it."""

    level = "told"

    def __init__(self, enough: dict[str, list[set[str]]]) -> None:
        self.enough = enough

    def __call__(self, statement: Statement, sources: Sequence[IndexedSource]) -> Verdict:
        names = {source.name for source in sources}
        if any(needed <= names for needed in self.enough[statement.words]):
            return Verdict(statement.claim, "supported", 0.9, self.level, (Evidence("1", 0, 9, "Source 1."),))
        return Verdict(statement.claim, "not_found", 0.1, self.level)


def statement(words: str, *citations: int) -> Statement:
    return Statement(Claim(words, Span(0, len(words)), citations, "factual"), words)


@pytest.mark.parametrize(
    ("enough", "citations", "recall", "precision", "superfluous"),
    [
        ([{"1"}], (1,), 1.0, 1 / 1, []),
        ([{"1"}], (1, 2), 1.0, 1 / 2, [2]),  # 2 alone is not enough, and 1 without it is
        ([{"1"}, {"2"}], (1, 2), 1.0, 2 / 2, []),  # each is enough alone
        ([{"1", "2"}], (1, 2), 1.0, 2 / 2, []),  # both are needed
        ([{"1", "2"}], (1, 2, 3), 1.0, 2 / 3, [3]),  # 3 alone is not enough, and 1 and 2 without it are
        ([{"3"}], (1, 2), 0.0, 0 / 2, []),  # not supported: no citation is precise
        ([{"1"}], (), 0.0, None, []),  # not cited: nothing to count for precision
    ],
)
def test_one_claim(
    enough: list[set[str]], citations: tuple[int, ...], recall: float, precision: float | None, superfluous: list[int]
) -> None:
    report = judge_statements([statement("a", *citations)], SOURCES, Told({"a": enough}), text="a")
    assert (report.citation_recall, report.citation_precision) == (recall, precision)
    assert [found.marker for found in report.superfluous] == superfluous


def test_an_answer_of_three_claims() -> None:
    told = Told({"a": [{"1"}], "b": [{"1", "2"}], "c": [{"3"}]})
    statements = [statement("a", 1, 3), statement("b", 1, 2, 3), statement("c", 1)]
    report = judge_statements(statements, SOURCES, told, text="a b c")
    assert report.groundedness == 3 / 3
    assert report.citation_recall == 2 / 3
    assert report.citation_precision == (1 + 2 + 0) / (2 + 3 + 1)
