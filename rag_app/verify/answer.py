"""A whole answer judged: each statement against what it cites, then against everything, then the shares."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag_app.types import Verdict
from rag_app.verify.levels import Judge
from rag_app.verify.report import Conflict, Superfluous, VerificationReport, abstention_outcome, share
from rag_app.verify.source import IndexedSource
from rag_app.verify.statements import Statement


@dataclass(frozen=True, slots=True)
class Judged:
    """A statement's verdict from its own citations (`cited`; None without any), from all sources, and each alone; and
    the citations that it does not need.
    """

    verdict: Verdict
    cited: Verdict | None
    overall: Verdict
    alone: dict[int, Verdict]
    superfluous: tuple[int, ...] = ()


def judge_statements(
    statements: Sequence[Statement],
    sources: Sequence[IndexedSource],
    judge: Judge,
    *,
    text: str,
    phantoms: tuple[str, ...] = (),
) -> VerificationReport:
    """The report on the statements of an answer; `sources[n - 1]` is what `[n]` names."""
    judged = [judge_statement(statement, sources, judge) for statement in statements]
    verdicts = [j.verdict for j in judged]
    factual = [j for j in judged if j.verdict.claim.kind == "factual"]
    superfluous = [s for number, j in enumerate(judged) for s in (Superfluous(number, n) for n in j.superfluous)]
    cited = sum(len(j.verdict.claim.citations) for j in factual)
    precise = sum(_precise(j) for j in factual)
    checkable = sum(j.verdict.label != "not_checkable" for j in factual)
    outcome = abstention_outcome(verdicts)
    return VerificationReport(
        text=text,
        verdicts=tuple(verdicts),
        level=judge.level,
        groundedness=share(sum(j.overall.label == "supported" for j in factual), len(factual)),
        citation_recall=share(sum(j.cited is not None and j.cited.label == "supported" for j in factual), len(factual)),
        citation_precision=share(precise, cited),
        checkable_share=share(checkable, len(statements)),
        phantoms=phantoms,
        superfluous=tuple(superfluous),
        conflicts=tuple(c for number, j in enumerate(judged) if (c := _conflict(number, j)) is not None),
        abstention=outcome,
        abstained=outcome is not None and outcome.startswith("abstained"),
    )


def judge_statement(statement: Statement, sources: Sequence[IndexedSource], judge: Judge) -> Judged:
    """Jointly by its citations, then each source alone; an uncited claim by all sources, with suggested citations.

    A cited claim that its citations do not support but another source does keeps its label and gets a suggestion:
    right fact, wrong marker. The verdict has the seconds that all of this took.
    """
    started = time.perf_counter()
    judged = _judge_statement(statement, sources, judge)
    verdict, conflict = judged.verdict, _conflict(0, judged)
    if conflict is not None:
        found = (
            f"the sources disagree: {_names(conflict.supporting)} for it, {_names(conflict.contradicting)} against it"
        )
        verdict = replace(verdict, reason="; ".join(filter(None, (verdict.reason, found))))
    return replace(judged, verdict=replace(verdict, seconds=time.perf_counter() - started))


def _judge_statement(statement: Statement, sources: Sequence[IndexedSource], judge: Judge) -> Judged:
    claim = statement.claim
    if claim.kind not in ("factual", "abstention"):
        none = Verdict(claim, "not_checkable", 0.0, judge.level, reason=f"the statement is of kind {claim.kind}")
        return Judged(none, None, none, {})
    overall = judge(statement, sources)
    if claim.kind == "abstention":
        return Judged(overall, None, overall, {})
    valid = [number for number in claim.citations if 1 <= number <= len(sources)]
    # A model is not asked twice about the same sources.
    alone = {1: overall} if len(sources) == 1 else {n: judge(statement, [s]) for n, s in enumerate(sources, start=1)}
    cited = None
    if valid:
        several = overall if len(valid) == len(sources) else None
        cited = alone[valid[0]] if len(valid) == 1 else several or judge(statement, [sources[n - 1] for n in valid])
    verdict = cited or overall
    supporting = [n for n, v in sorted(alone.items(), key=lambda p: (-p[1].score, p[0])) if v.label == "supported"]
    if cited is None or cited.label != "supported":
        verdict = replace(verdict, suggested_citations=tuple(n for n in supporting if n not in valid))
    if cited is not None and cited.label != "supported" and overall.label == "supported":
        verdict = replace(verdict, reason="another source supports it: the citation is wrong, not the fact")
    superfluous = _superfluous(valid, cited, alone, lambda rest: judge(statement, [sources[n - 1] for n in rest]))
    return Judged(verdict, cited, overall, alone, superfluous)


def _superfluous(
    valid: Sequence[int], cited: Verdict | None, alone: dict[int, Verdict], rest: Callable[[Sequence[int]], Verdict]
) -> tuple[int, ...]:
    """Citations that do not support the claim alone while the others together do (ALCE's irrelevant citations)."""
    if cited is None or cited.label != "supported":
        return ()
    weak = tuple(number for number in valid if alone[number].label != "supported")
    if len(weak) < len(valid):
        return weak
    if len(valid) < 3:
        return ()
    return tuple(n for n in valid if rest([other for other in valid if other != n]).label == "supported")


def _precise(judged: Judged) -> int:
    """How many citations of a claim count as precise: none when jointly they do not support it."""
    if judged.cited is None or judged.cited.label != "supported":
        return 0
    return len(judged.verdict.claim.citations) - len(judged.superfluous)


def _names(sources: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in sources)


def _conflict(number: int, judged: Judged) -> Conflict | None:
    """One source supports the claim and another, about the same, contradicts it."""
    supporting = tuple(n for n, v in judged.alone.items() if v.label == "supported")
    against = tuple(n for n, v in judged.alone.items() if v.label == "contradicted")
    return Conflict(number, supporting, against) if supporting and against else None
