"""Dates: a date of the claim beside the dates of the window; what one side leaves open is no conflict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rag_app.types import Check
from rag_app.verify.checks.base import ABOUT, Aligned
from rag_app.verify.dates import Date, dates_of


def check_dates(aligned: Aligned) -> Iterator[Check]:
    """Pass where the source has the date, as far as both say it; fail where the window, about the claim, has a date
    that differs in one part and agrees in another; else unknown, also when the order of day and month is open.
    """
    ours = dates_of(aligned.claim)
    if not ours:
        return
    window = aligned.window_span
    inside = [replace(d, span=d.span.shift(window.start)) for d in dates_of(window.slice(aligned.source.text))]
    everywhere = dates_of(aligned.source.text)
    for date in ours:
        same = next((d for d in inside if date.agrees(d)), None)
        rival = next((d for d in inside if _is_rival(date, d)), None)
        if same is not None:
            whole = same.known() >= date.known() and same.swapped == date.swapped and _alike(date, same)
            yield aligned.check("date", "pass" if whole else "unknown", date.span, same.span)
        elif rival is None or aligned.support.coverage < ABOUT or any(date.agrees(d) for d in everywhere):
            yield aligned.check("date", "unknown", date.span, None)
        else:
            yield aligned.check("date", "fail", date.span, rival.span)


def _is_rival(ours: Date, theirs: Date) -> bool:
    """Do both say two things or more, and agree in at least one of them?"""
    if ours.agrees(theirs):
        return False
    if ours.swapped or theirs.swapped:
        return ours.year == theirs.year
    pairs = [(ours.year, theirs.year), (ours.month, theirs.month), (ours.day, theirs.day)]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    return len(both) >= 2 and any(a == b for a, b in both) and any(a != b for a, b in both)


def _alike(ours: Date, theirs: Date) -> bool:
    """With the order of day and month open on both sides: is it written the same way?"""
    return not ours.swapped or (ours.month, ours.day) == (theirs.month, theirs.day)
