"""Numbers: the claim's value against the values of the same kind in the window."""

from __future__ import annotations

from collections.abc import Iterator

from rag_app.types import Check
from rag_app.verify.checks.base import ABOUT, Aligned
from rag_app.verify.quantities import HAN_NUMBER, Quantity, says
from rag_app.verify.words import is_function_word, stem

_REACH = 40


def check_numbers(aligned: Aligned) -> Iterator[Check]:
    """Pass where the window has the value; fail where it has another of the same kind instead; else unknown.

    Where the window is about something else (little of the claim, or no word around the numbers in common) a different
    number is no conflict.
    """
    if not aligned.quantities:
        return
    inside = aligned.source.quantities_in(aligned.window_span)
    about = aligned.support.coverage >= ABOUT
    for ours in aligned.quantities:
        rivals = [q for q in inside if comparable(ours, q) and not _claimed(aligned, q)]
        theirs = max(rivals, key=lambda q: (_shared_context(aligned, ours, q), -q.span.start), default=None)
        shared = _shared_context(aligned, ours, theirs) if theirs else 0
        equal = next((q for q in inside if says(ours, q)), None)
        if equal:
            yield aligned.check("number", "pass", ours.span, equal.span)
        elif any(says(ours, q) for q in aligned.source.quantities):
            yield aligned.check("number", "unknown", ours.span, None)
        elif theirs and about and shared:
            yield aligned.check("number", "fail", ours.span, theirs.span)
        elif (
            about
            and ours.dimension != "ordinal"
            and not HAN_NUMBER.search(aligned.window_span.slice(aligned.source.text))
        ):
            yield aligned.check("number absent", "fail", ours.span, None)
        else:
            yield aligned.check("number", "unknown", ours.span, None)


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
