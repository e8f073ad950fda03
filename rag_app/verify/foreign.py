"""A claim in another language or script than its source: numbers, dates and names are compared, and nothing else.

What agrees in these is not supported by that: the verdict stays open (not_checkable), for a higher level or a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from rag_app.text.languages import STOP_WORDS, detect_language
from rag_app.types import Check, Evidence, Span, Verdict
from rag_app.verify.dates import dates_of
from rag_app.verify.quantities import quantities_of
from rag_app.verify.quantity import Quantity, says
from rag_app.verify.source import IndexedSource
from rag_app.verify.statements import Statement
from rag_app.verify.support import entity_stems
from rag_app.verify.words import Word, is_function_word, weight, words_of

FOREIGN = "the source is in another language: only numbers, names and dates were compared"
_SAMPLE = 2000
_SHARED = 0.5
_SCRIPTS = (
    ("kana", re.compile("[\u3041-\u30ff]")), ("hangul", re.compile("[\uac00-\ud7af]")),
    ("han", re.compile("[\u3400-\u9fff]")), ("latin", re.compile("[A-Za-zÀ-ɏ]")),
    ("cyrillic", re.compile("[\u0400-\u04ff]")), ("arabic", re.compile("[\u0600-\u06ff]")),
    ("greek", re.compile("[\u0370-\u03ff]")), ("devanagari", re.compile("[\u0900-\u097f]")),
)  # fmt: skip
_KANA_IN = 0.1
_LETTER = re.compile(r"[A-Za-z]")
_LETTERS = re.compile(r"[^\W\d_]+")
_TELLING = 3
"""So many function words on both sides, one on each at least, tell two languages apart; with two, one of the
languages must be English, and the words of matter must say so too."""
_NO_WORD = "\ufffd"
"""Weighs as much as every word that the list of common English words lacks."""


def is_foreign(claim: str, source: IndexedSource) -> bool:
    """Are claim and source written in two scripts, or in two known languages of one script with few words in common?"""
    ours, theirs = script_of(claim), script_of(source.text[:_SAMPLE])
    if not ours or not theirs or source.says(claim):
        return False
    if ours != theirs:
        # A Japanese phrase may hold no kana.
        return {ours, theirs} != {"han", "kana"} or len(claim) > 8
    mine, other = _language(claim), _language(source.text[:_SAMPLE])
    tells = (_tells(claim, mine, other), _tells(source.text[:_SAMPLE], other, mine))
    if min(tells) < 1:
        return False
    if sum(tells) >= _TELLING:
        return _shared_words(claim, source) < _SHARED
    if "english" not in (mine, other) or not (_is_of(claim, mine) and _is_of(source.text, other)):
        # Two Spanish texts of a few words may look Portuguese and Spanish.
        return False
    return _shared_as_written(claim, source) < _SHARED


@lru_cache(maxsize=256)
def script_of(text: str) -> str:
    """The script that most letters of a text are of, "" without letters; a tenth of kana makes Han Japanese."""
    if text.isascii():
        return "latin" if _LETTER.search(text) else ""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS}
    if counts["kana"] >= _KANA_IN * (counts["kana"] + counts["han"]):
        counts["kana"] += counts["han"]
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else ""


@lru_cache(maxsize=256)
def _language(text: str) -> str:
    return detect_language(text, "")


def _tells(text: str, language: str, other: str) -> int:
    """How many function words of the language the text has that the other lacks; single letters tell nothing."""
    own = STOP_WORDS.get(language, frozenset()) - STOP_WORDS.get(other, frozenset())
    return sum(len(word) > 1 for word in own & set(_LETTERS.findall(text.casefold())))


def _shared_words(claim: str, source: IndexedSource) -> float:
    """The share of the claim's words that are neither names nor numbers nor grammar and stand in the source."""
    words = _matter(claim)
    return sum(w.stem in source.postings for w in words) / len(words) if words else 0.0


def _shared_as_written(claim: str, source: IndexedSource) -> float:
    """The same without stems: "lamp" and "Lampe" have one."""
    words, there = _matter(claim), {w.text.casefold() for w in words_of(source.text)}
    return sum(w.text in there for w in words) / len(words) if words else 0.0


def _is_of(text: str, language: str) -> bool:
    """Are the words of matter of a short text what its language says: common English words, or not?

    "Las Vegas expanded" has a Spanish function word and is English.
    """
    words = _matter(text)
    common = sum(weight(w.stem) < weight(_NO_WORD) for w in words)
    return bool(words) and (2 * common > len(words)) == (language == "english")


def _matter(text: str) -> list[Word]:
    """The words that are neither names nor numbers nor grammar."""
    return [w for w in words_of(text) if w.text.islower() and not is_function_word(w.stem)]


def judge_foreign(statement: Statement, claim: str, sources: Sequence[IndexedSource], level: str) -> Verdict:
    """not_checkable while numbers, dates and names agree; not_found when a number or date is missing; contradicted
    when the source has another of the same kind and agrees in something else. The best source decides.
    """
    judged = [(list(_compare(claim, source)), source) for source in sources]
    verdicts = [_verdict(statement, checks, source, level) for checks, source in judged]
    order = ("not_checkable", "contradicted", "not_found")
    return min(
        verdicts, key=lambda v: (order.index(v.label), -v.score, v.evidence[:1]), default=_open(statement, level)
    )


def _open(statement: Statement, level: str) -> Verdict:
    return Verdict(statement.claim, "not_checkable", 0.0, level, reason=FOREIGN)


def _verdict(statement: Statement, checks: list[Check], source: IndexedSource, level: str) -> Verdict:
    passed = [check for check in checks if check.outcome == "pass"]
    failed = [check for check in checks if check.outcome == "fail"]
    spans = sorted({source.units[source.unit_at(c.evidence_span.start)] for c in passed + failed if c.evidence_span})
    evidence: tuple[Evidence, ...] = tuple(source.evidence(span) for span in spans[:3])
    placed = tuple(
        replace(c, evidence_span=c.evidence_span.shift(source.offset)) if c.evidence_span else c for c in checks
    )
    label = "not_checkable"
    if failed:
        rival = any(check.evidence_span for check in failed)
        label = "contradicted" if rival and passed else "not_found"
    score = 0.0 if failed or not checks else 0.25 * len(passed) / len(checks)
    return Verdict(statement.claim, label, score, level, evidence, placed, reason=FOREIGN)


def _compare(claim: str, source: IndexedSource) -> Iterator[Check]:
    text = source.text
    dates, theirs = dates_of(claim), dates_of(text)
    for date in dates:
        same = next((d for d in theirs if date.agrees(d)), None)
        rival = next((d for d in theirs if d.year == date.year or (d.month, d.day) == (date.month, date.day)), None)
        outcome = "unknown" if date.swapped or (not same and not rival) else "pass" if same else "fail"
        found = same or rival
        yield _check("date", outcome, claim, date.span, text, found.span if found else None)
    for ours in quantities_of(claim):
        if any(date.span.overlaps(ours.span) for date in dates) or ours.dimension == "ordinal":
            continue
        equal = next((q for q in source.quantities if says(ours, q)), None)
        other = equal or next((q for q in source.quantities if _is_rival(ours, q)), None)
        if equal is None and ours.is_share:
            continue
        yield _check("number", "pass" if equal else "fail", claim, ours.span, text, other.span if other else None)
    stems = set(entity_stems(claim, words_of(claim)))
    for word in words_of(claim):
        if word.stem in stems and not word.stem[0].isdigit() and word.stem in source.postings:
            unit = source.postings[word.stem][0]
            place = next(w.span for w in source.words_in(unit) if w.stem == word.stem)
            yield _check("name", "pass", claim, word.span, text, place)


def _is_rival(ours: Quantity, theirs: Quantity) -> bool:
    """The same dimension, where it says what is measured: a bare count says nothing across languages."""
    return ours.dimension == theirs.dimension != "count"


def _check(name: str, outcome: str, claim: str, ours: Span, text: str, theirs: Span | None) -> Check:
    told = theirs.slice(text) if theirs else None
    return Check(name, outcome, ours.slice(claim), told, ours, theirs)
