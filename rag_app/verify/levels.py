"""The levels as judges: from a statement and its sources to a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_app.types import Verdict
from rag_app.verify.lexical import Thresholds, verify_lexical
from rag_app.verify.source import IndexedSource
from rag_app.verify.statements import Statement


class Judge(Protocol):
    """Whoever can say what sources say of a statement; `level` names it in verdicts."""

    @property
    def level(self) -> str: ...

    def __call__(self, statement: Statement, sources: Sequence[IndexedSource]) -> Verdict: ...


@dataclass(frozen=True)
class LexicalJudge:
    """The lexical level: no model, always there."""

    thresholds: Thresholds
    level: str = "lexical"

    def __call__(self, statement: Statement, sources: Sequence[IndexedSource]) -> Verdict:
        return verify_lexical(statement, sources, self.thresholds)
