"""The lexical level: a claim against sources without any model. Support and conflict checks stay separate channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_app.types import Check, Claim, Evidence, Span, Verdict
from rag_app.verify.checks import run_checks
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import NOTHING, Support, claim_words, constants, support_of

LEVEL = "lexical"
VETO = frozenset({"number", "negation"})
"""The checks that may turn a verdict to contradicted; the others only warn."""


@lru_cache(maxsize=64)
def indexed(text: str, name: str = "source") -> IndexedSource:
    """The source, read once for all the claims about it."""
    return IndexedSource(text, name)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Scores from which a claim is supported, or partially so."""

    supported: float
    partial: float

    @classmethod
    def default(cls) -> Thresholds:
        values = constants()
        return cls(float(str(values["threshold"])), float(str(values["partial threshold"])))


@dataclass(frozen=True, slots=True)
class Finding:
    """What one source says of a claim."""

    source: IndexedSource
    support: Support
    checks: tuple[Check, ...]
    score: float
    label: str


def judge(claim: str, source: IndexedSource, thresholds: Thresholds) -> Finding:
    """One claim against one source. A vetoing check that fails halves the score and takes "supported" away."""
    support = support_of(claim, source)
    checks = run_checks(claim, source, support)
    score = support.score
    if any(check.outcome == "fail" and check.name in VETO for check in checks):
        score = 0.5 * min(score, thresholds.supported)
        label = "contradicted"
    elif score >= thresholds.supported:
        label = "supported"
    elif score >= thresholds.partial:
        label = "partially_supported"
    else:
        label = "not_found"
    return Finding(source, support, checks, score, label)


def verify_lexical(claim: Claim, sources: Sequence[IndexedSource], thresholds: Thresholds | None = None) -> Verdict:
    """The verdict over all sources: the best of them decides; nothing without evidence is ever supported.

    The order of the sources does not matter: ties break by the source's text.
    """
    if not claim_words(claim.text):
        return Verdict(claim, "not_checkable", 0.0, LEVEL, reason="the claim has no words to look for")
    thresholds = thresholds or Thresholds.default()
    findings = [judge(claim.text, source, thresholds) for source in sources]
    findings = [finding for finding in findings if finding.support is not NOTHING]
    if not findings:
        return Verdict(claim, "not_found", 0.0, LEVEL, reason="no source holds a word of the claim")
    best = max(findings, key=lambda f: (f.label == "supported", f.support.score, f.source.text))
    return Verdict(claim, best.label, best.score, LEVEL, evidence_of(best), best.checks)


def evidence_of(finding: Finding) -> tuple[Evidence, ...]:
    """The sentence most like the claim first, then the rest of its window where that adds words of the claim."""
    source, support = finding.source, finding.support
    spans = [source.units[support.best]]
    if support.features["window coverage"] > support.features["sentence coverage"] + 1e-9:
        spans.append(source.window_span(support.first, support.last))
    return tuple(_evidence(source, span) for span in dict.fromkeys(spans))


def _evidence(source: IndexedSource, span: Span) -> Evidence:
    return Evidence(source.name, span.start, span.end, span.slice(source.text))
