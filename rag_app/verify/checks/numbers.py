"""Numbers: the claim's value against the values of the same kind in the window."""

from __future__ import annotations

from collections.abc import Iterator

from rag_app.types import Check
from rag_app.verify.checks.base import Aligned
from rag_app.verify.quantities import Quantity, same_value
from rag_app.verify.words import is_function_word, stem

_REACH = 40
_ABOUT = 0.5
"""From this coverage on the window is about the claim, so that a number it lacks is a conflict."""


def check_numbers(aligned: Aligned) -> Iterator[Check]:
    """Pass where the window has the value; fail where it has another of the same kind instead; else unknown."""
    if not aligned.quantities:
        return
    inside = aligned.source.quantities_in(aligned.window_span)
    for ours in aligned.quantities:
        equal = [q for q in inside if same_value(ours, q)]
        if equal:
            yield aligned.check("number", "pass", ours.span, equal[0].span)
            continue
        rivals = [q for q in inside if comparable(ours, q) and not _claimed(aligned, q)]
        if any(same_value(ours, q) for q in aligned.source.quantities):
            yield aligned.check("number", "unknown", ours.span, None)
        elif rivals:
            theirs = max(rivals, key=lambda q: (_shared_context(aligned, ours, q), -q.span.start))
            yield aligned.check("number", "fail", ours.span, theirs.span)
        elif aligned.support.coverage > _ABOUT and ours.dimension != "ordinal":
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
    return any(same_value(other, theirs) for other in aligned.quantities)


def _shared_context(aligned: Aligned, ours: Quantity, theirs: Quantity) -> int:
    """How many content stems stand within reach of both numbers."""
    near = {w.stem for w in aligned.words if abs(w.span.start - ours.span.start) <= _REACH}
    there = {w.stem for w in aligned.window if abs(w.span.start - theirs.span.start) <= _REACH}
    return sum(not is_function_word(s) for s in near & there)
