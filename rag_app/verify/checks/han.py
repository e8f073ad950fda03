"""Negation in Chinese and Japanese, where no space parts the words.

不, 没, 未 and 無 stand before what they deny, ない and ません behind it. The expressions stand in `negation.json`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

from rag_app.types import Check, Span
from rag_app.verify.checks.base import ABOUT, Aligned

SAME = 0.6
"""This share of the characters of the clause that denies must stand on the other side, or they speak of two things."""
_LONGEST = 2
_REACH = 8
_FAR = 200
"""No clause reaches further."""
_MATTER = re.compile(r"[\u30a1-\u30ff\u3400-\u9fff\w]")
_RUN = re.compile(r"[\u30a1-\u30ff\u3400-\u9fff]+")
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_CLAUSE = re.compile(r"[，。、；！？,;!?\n]")
IS_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")


class Denial(NamedTuple):
    """A negator and what it denies: up to two characters of matter."""

    negator: Span
    scope: Span


@functools.cache
def negation_tables() -> dict[str, Any]:
    """The tables of `negation.json`."""
    text = resources.files("rag_app.verify").joinpath("negation.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(negation_tables()[name])


def denials_of(text: str) -> list[Denial]:
    """The denials of a Chinese or Japanese text, in order."""
    skipped = [match.span() for match in _pattern("no denial").finditer(text)]
    found: list[Denial] = []
    for name in ("han", "japanese"):
        for match in _pattern(name).finditer(text):
            if any(start <= match.start() < end for start, end in skipped):
                continue
            scope = _after(text, match.end()) if name == "han" else _before(text, match.start())
            if scope is not None:
                found.append(Denial(Span(*match.span()), scope))
    return sorted(found)


def _after(text: str, end: int) -> Span | None:
    run = _RUN.match(text, end)
    return Span(end, min(run.end(), end + _LONGEST)) if run else None


def _before(text: str, start: int) -> Span | None:
    runs = [run.span() for run in _RUN.finditer(text, max(0, start - _REACH), start)]
    if not runs or _CLAUSE.search(text, runs[-1][1], start):
        return None
    first, last = runs[-1]
    return Span(max(first, last - _LONGEST), last)


def check_han_negation(aligned: Aligned) -> Iterator[Check]:
    """Fail where one side denies what the other says and the rest of the clause is the same; pass where both deny."""
    if aligned.support.coverage < ABOUT or not IS_CJK.search(aligned.claim):
        return
    best = aligned.best_span
    told = best.slice(aligned.source.text)
    ours, theirs = denials_of(aligned.claim), denials_of(told)
    for denial in ours:
        said = denial.scope.slice(aligned.claim)
        same = next((d for d in theirs if d.scope.slice(told) == said), None)
        span = _cover(denial)
        if same is not None:
            yield aligned.check("negation", "pass", span, _cover(same).shift(best.start))
        elif said in told and _same_clause(aligned.claim, denial, told):
            place = told.index(said)
            yield aligned.check("negation", "fail", span, Span(place, place + len(said)).shift(best.start))
            return
    if ours:
        return
    for denial in theirs:
        said = denial.scope.slice(told)
        if said in aligned.claim and _same_clause(told, denial, aligned.claim):
            place = aligned.claim.index(said)
            theirs_span = _cover(denial).shift(best.start)
            yield aligned.check("negation", "fail", Span(place, place + len(said)), theirs_span)
            return


def _cover(denial: Denial) -> Span:
    return Span(min(denial.negator.start, denial.scope.start), max(denial.negator.end, denial.scope.end))


def _same_clause(text: str, denial: Denial, other: str) -> bool:
    """Has the other side this share of the characters of the clause, without the negator and the grammar of kana?"""
    before = [
        match.end() for match in _CLAUSE.finditer(text, max(0, denial.negator.start - _FAR), denial.negator.start)
    ]
    after = _CLAUSE.search(text, denial.negator.end, denial.negator.end + _FAR)
    first = before[-1] if before else max(0, denial.negator.start - _FAR)
    last = after.start() if after else denial.negator.end + _FAR
    clause = text[first : denial.negator.start] + text[denial.negator.end : last]
    matter = [char for char in clause if _MATTER.match(char) and not _HIRAGANA.match(char)]
    return bool(matter) and sum(char in other for char in matter) >= SAME * len(matter)
