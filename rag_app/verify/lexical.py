"""The lexical level: a claim against sources without any model. Support and conflict checks stay separate channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rag_app.types import Check, Claim, Evidence, Span, Verdict
from rag_app.verify.abstention import judge_abstention
from rag_app.verify.checks import run_checks
from rag_app.verify.foreign import is_foreign, judge_foreign
from rag_app.verify.joint import joint_support
from rag_app.verify.kinds import kind_of
from rag_app.verify.source import IndexedSource, SourceCache
from rag_app.verify.statements import Statement
from rag_app.verify.support import NOTHING, Support, claim_words, constants, support_of, without_markers
from rag_app.verify.words import is_function_word, listed, words_of

LEVEL = "lexical"
NUMBERS = ("number", "number absent", "number in place", "bound", "date")
_WORDS = ("antonym", "name", "negation", "quantifier", "modality", "role", "speaker", "table cell", "part")
VETO = frozenset((*NUMBERS, *_WORDS))
"""The checks that may turn a verdict: each flags at most 2.5 % of the supported claims of ab_dev and of wice_dev
(`benchmarks/verify/flags.py`). Together they move balanced accuracy from 70.9 to 71.1 on ab_dev, from 78.2 to 77.5 on
wice_dev, and from 55.0 to 72.9 on the edited claims of perturb_dev.
"""

ABSENT_PART, FOUND_PART = 0.2, 0.9
"""A part of a claim covered less than the one is not in the source, covered as the other it is. On ab_dev the first
takes "supported" from 4 claims of 521, on wice_dev from none.
"""

_REPLIES = listed("yes no ja nein oui non sí")
OWN_WORDS = 0.65
"""From this coverage on a statement may be helped by the sentence that holds its subject."""


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

    def vetoed(self) -> bool:
        """Did a check that may turn the verdict fail?"""
        return any(check.outcome == "fail" and check.name in VETO for check in self.checks)

    def shift(self, check: Check) -> Check:
        """The check with its evidence span in the document's text."""
        if check.evidence_span is None or not self.source.offset:
            return check
        return replace(check, evidence_span=check.evidence_span.shift(self.source.offset))


def judge(claim: str, source: IndexedSource, thresholds: Thresholds) -> Finding:
    """One claim against one source. A vetoing check that fails halves the score and takes "supported" away; so does a
    part of the claim that the source hardly speaks of. A claim of which only a part is found is partially supported.
    """
    claim = without_markers(claim)
    support = support_of(claim, source)
    checks = run_checks(claim, source, support)
    if source.says(claim):  # its neighbors may deny something else in the same words
        checks = tuple(check for check in checks if check.outcome != "fail")
    score = support.score
    if any(check.outcome == "fail" and check.name in VETO for check in checks):
        score = 0.5 * min(score, thresholds.supported)
        # A number that the source never gives, or gives as a bound, is no contradiction: the source is silent about it.
        failed = [check for check in checks if check.outcome == "fail" and check.name in VETO]
        silent = all(check.evidence_span is None or check.name == "bound" for check in failed)
        label = "partially_supported" if silent else "contradicted"
    elif score >= thresholds.supported and min(support.parts, default=1.0) >= ABSENT_PART:
        label = "supported"
    elif score >= thresholds.supported:
        score, label = 0.99 * thresholds.supported, "partially_supported"
    elif score >= thresholds.partial or (len(support.parts) > 1 and max(support.parts) >= FOUND_PART):
        label = "partially_supported"
    else:
        label = "not_found"
    return Finding(source, support, checks, score, label)


def verify_lexical(
    statement: Statement, sources: Sequence[IndexedSource], thresholds: Thresholds | None = None
) -> Verdict:
    """The verdict over all sources: the best of them decides; nothing without evidence is ever supported.

    The order of the sources does not matter: ties break by the source's text.
    """
    claim, thresholds = statement.claim, thresholds or Thresholds.default()
    if claim.kind == "abstention" and not _says_it(statement.words, sources):
        return judge_abstention(statement, sources, LEVEL)
    if not _has_matter(statement.words):
        return Verdict(claim, "not_checkable", 0.0, LEVEL, reason="the claim has no words to look for")
    words = without_markers(statement.words)
    foreign = [source for source in sources if is_foreign(words, source)]
    own = [source for source in sources if source not in foreign]
    if foreign and not own:
        return judge_foreign(statement, words, foreign, LEVEL)
    findings = [_with_context(statement, source, thresholds) for source in own]
    findings = [finding for finding in findings if finding.support is not NOTHING]
    if not findings and not foreign:
        return Verdict(claim, "not_found", 0.0, LEVEL, reason="no source holds a word of the claim")
    if not findings:
        return judge_foreign(statement, words, foreign, LEVEL)
    best = max(findings, key=lambda f: (f.label == "supported", f.support.score, f.source.text))
    if best.label in ("not_found", "partially_supported") and len(findings) > 1 and not best.vetoed():
        joint = joint_support(statement.words, [(f.source, f.support) for f in findings])
        if joint is not None and joint[0] >= thresholds.supported:
            return Verdict(claim, "supported", joint[0], LEVEL, joint[1], reason="two sources together support it")
    checks = tuple(map(best.shift, best.checks))
    if foreign and best.label in ("not_found", "partially_supported"):
        return judge_foreign(statement, words, foreign, LEVEL)
    return Verdict(claim, best.label, best.score, LEVEL, evidence_of(best), checks)


def _has_matter(words: str) -> bool:
    """Is there a word to look for? A bare "Yes." or "No, it does not." says what its question says."""
    found = claim_words(words)
    if not any(word.text.casefold() in _REPLIES for word in words_of(words)):
        return bool(found)
    return any(not is_function_word(word.stem) and word.text.casefold() not in _REPLIES for word in found)


def _says_it(words: str, sources: Sequence[IndexedSource]) -> bool:
    """Is it a sentence of a source, word for word? Then it speaks of its own subject, not of the evidence."""
    told = " ".join(words.split())
    return any(told in " ".join(source.text.split()) for source in sources)


@dataclass(frozen=True, slots=True)
class LexicalVerifier:
    """`Verifier` at the lexical level for plain texts, without LangChain's Runnables: what a quick start needs."""

    thresholds: Thresholds
    level: str = LEVEL
    cache: SourceCache = field(default_factory=SourceCache, repr=False, compare=False)

    def verify_claim(self, claim: str, sources: Sequence[str]) -> Verdict:
        """The verdict on one claim; sources are named by their number, from 1."""
        statement = Statement(Claim(claim, Span(0, len(claim)), kind=kind_of(claim)), claim)
        texts = [self.cache.get(source, str(number)) for number, source in enumerate(sources, start=1)]
        return verify_lexical(statement, texts, self.thresholds)


def _with_context(statement: Statement, source: IndexedSource, thresholds: Thresholds) -> Finding:
    """A statement whose subject stands in the sentence before: alone and with it, the better of both.

    With it only when the source has the statement's own words and no check failed: the sentence before brings enough
    words to carry anything.
    """
    finding = judge(statement.words, source, thresholds)
    if not statement.context or finding.label in ("supported", "contradicted") or finding.vetoed():
        return finding
    own = finding.support
    if own.coverage < OWN_WORDS or min(own.parts, default=1.0) < ABSENT_PART:
        return finding
    joined = support_of(f"{statement.context} {statement.words}", source)
    if joined.score < thresholds.supported:
        return finding
    return replace(finding, score=joined.score, label="supported")


def evidence_of(finding: Finding) -> tuple[Evidence, ...]:
    """The sentence most like the claim first, then the rest of its window where that adds words of the claim."""
    source, support = finding.source, finding.support
    window = source.window_span(support.first, support.last)
    spans = [source.units[support.shown], source.units[support.best]]
    if support.spread:
        spans.append(window)
    return tuple(source.evidence(span) for span in dict.fromkeys(spans))
