"""Numbers: the claim's value against the values of the same kind in the window."""

from __future__ import annotations

from collections.abc import Iterator

from rag_app.types import Check
from rag_app.verify.checks.base import ABOUT, Aligned
from rag_app.verify.dates import dates_of
from rag_app.verify.numerals import ERA_YEAR
from rag_app.verify.quantity import Quantity, in_decade, says
from rag_app.verify.words import is_function_word, stem

_REACH = 40


def check_numbers(aligned: Aligned) -> Iterator[Check]:
    """Pass where the window has the value; fail where it has another of the same kind instead; else unknown.

    Where the window is about something else (little of the claim, or no word around the numbers in common) a different
    number is no conflict. Day and month of a date in numbers are left to the check of dates; a share in words ("one in
    five") is a check of its own, "share", which never turns a verdict.
    """
    if not aligned.quantities:
        return
    inside = aligned.source.quantities_in(aligned.window_span)
    about = aligned.support.coverage >= ABOUT
    numeric = [date.span for date in dates_of(aligned.claim) if date.is_numeric]
    for ours in aligned.quantities:
        if ours.dimension != "year" and any(span.overlaps(ours.span) for span in numeric):
            continue
        rivals = [q for q in inside if comparable(ours, q) and not _claimed(aligned, q)]
        theirs = max(rivals, key=lambda q: (_shared_context(aligned, ours, q), -q.span.start), default=None)
        shared = _shared_context(aligned, ours, theirs) if theirs else 0
        equal = next((q for q in inside if says(ours, q)), None)
        name = "share" if ours.is_share else "number"
        if equal:
            yield aligned.check(name, "pass", ours.span, equal.span)
        elif any(says(ours, q) for q in aligned.source.quantities) or _is_open(ours, aligned):
            yield aligned.check(name, "unknown", ours.span, None)
        elif theirs and about and shared:
            yield aligned.check(name, "fail", ours.span, theirs.span)
        elif about and ours.dimension != "ordinal" and not ours.is_share:
            yield aligned.check("number absent", "fail", ours.span, None)
        else:
            yield aligned.check(name, "unknown", ours.span, None)


def _is_open(ours: Quantity, aligned: Aligned) -> bool:
    """May the source say it in a way that is not read: a year within its decade, or in a calendar of reigns?"""
    if ours.dimension != "year":
        return False
    decades = (q for q in aligned.source.quantities if q.dimension == "decade")
    return any(in_decade(ours, q) for q in decades) or ERA_YEAR.search(aligned.source.text) is not None


def comparable(ours: Quantity, theirs: Quantity) -> bool:
    """Are both of one kind: the same dimension, and for bare counts the same noun?"""
    if ours.dimension != theirs.dimension:
        return False
    if ours.dimension == "count":
        return bool(ours.noun) and stem(ours.noun) == stem(theirs.noun) if theirs.noun else False
    return True


def _claimed(aligned: Aligned, theirs: Quantity) -> bool:
    """Is this value of the source already what another number of the claim says?"""
    return any(says(other, theirs) for other in aligned.quantities)


def _shared_context(aligned: Aligned, ours: Quantity, theirs: Quantity) -> int:
    """How many content stems stand within reach of both numbers."""
    near = {w.stem for w in aligned.words if abs(w.span.start - ours.span.start) <= _REACH}
    there = {w.stem for w in aligned.window if abs(w.span.start - theirs.span.start) <= _REACH}
    return sum(not is_function_word(s) for s in near & there)
