"""The levels as judges: from a statement and its sources to a verdict; and the cascade over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rag_app.types import Verdict
from rag_app.verify.foreign import FOREIGN
from rag_app.verify.lexical import VETO, Thresholds, verify_lexical
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


@dataclass(frozen=True)
class Cascade:
    """The lexical level decides what it is sure of and hands on the rest, level by level.

    Sure: a score at least `margin` away from the threshold, or no evidence at all. A level that fails
    yields not_checkable with its reason, never the verdict of the level before, which was not sure.
    """

    first: Judge
    then: Sequence[Judge]
    thresholds: Thresholds
    margin: float = 0.3
    level: str = field(default="cascade")

    def __call__(self, statement: Statement, sources: Sequence[IndexedSource]) -> Verdict:
        verdict = self.first(statement, sources)
        for judge in self.then:
            if self._sure(verdict):
                return verdict
            verdict = judge(statement, sources)
        return verdict

    def _sure(self, verdict: Verdict) -> bool:
        if verdict.reason == FOREIGN:
            return False
        if verdict.label == "not_checkable" and verdict.level == "lexical":
            return True
        if not verdict.evidence and verdict.level == "lexical":
            return True
        failed = any(check.outcome == "fail" and check.name in VETO for check in verdict.checks)
        return verdict.label == "supported" and not failed and verdict.score >= self.thresholds.supported + self.margin
