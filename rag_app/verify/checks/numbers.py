"""Numbers: the claim's value against the values of the same kind in the window."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from rag_app.types import Check
from rag_app.verify.checks.base import ABOUT, Aligned, touches_any
from rag_app.verify.dates import Date, dates_of
from rag_app.verify.numerals import ERA_YEAR
from rag_app.verify.quantity import Quantity, in_decade, same_value, says
from rag_app.verify.words import Word, is_function_word, stem

_REACH = 40
_PERCENT = {"percent", "percentage points"}


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
    dates = dates_of(aligned.claim)
    numeric = [date.span for date in dates if date.is_numeric]
    settled = [date.span for date in dates if _is_there(date, aligned)]
    free = _Rivals(aligned, inside)
    known: dict[tuple[object, ...], tuple[Quantity | None, bool]] = {}
    for ours in aligned.quantities:
        if touches_any(settled, ours.span) or (ours.dimension != "year" and touches_any(numeric, ours.span)):
            continue
        if ours.key() not in known:
            equal = min((q for q in inside if says(ours, q)), key=lambda q: not _bears_out(ours, q), default=None)
            known[ours.key()] = equal, equal is None and any(says(ours, q) for q in aligned.source.quantities)
        equal, elsewhere = known[ours.key()]
        name = "share" if ours.is_share else "number"
        if equal and not _bears_out(ours, equal):
            # An exact number inside the source's bound may be so; a bound that leaves the source's number out may not.
            what = "number" if ours.bound else "bound"
            yield aligned.check(what, "fail", ours.bounded_span, equal.bounded_span)
        elif equal:
            yield aligned.check(name, "pass", ours.span, equal.span)
        elif elsewhere or _is_open(ours, aligned) or _stands_in(ours, aligned):
            yield aligned.check(name, "unknown", ours.span, None)
        elif about and (theirs := free.of(ours)) is not None:
            name = "bound" if name == "number" and _may_be(ours, theirs) else name
            yield aligned.check(name, "fail", ours.bounded_span, theirs.bounded_span)
        elif about and ours.dimension != "ordinal" and not ours.is_share:
            yield aligned.check("number absent", "fail", ours.span, None)
        else:
            yield aligned.check(name, "unknown", ours.span, None)


def _is_there(date: Date, aligned: Aligned) -> bool:
    """Has the window the same date, written in numbers: "3 October 1990" and "03.10.1990"?"""
    theirs = dates_of(aligned.window_span.slice(aligned.source.text))
    return any(d.is_numeric and d.known() == date.known() == 3 and date.agrees(d) for d in theirs)


class _Rivals:
    """The numbers of the window that no number of the claim says, by kind; and the words near them."""

    def __init__(self, aligned: Aligned, inside: Sequence[Quantity]) -> None:
        self.aligned, self.inside = aligned, inside
        self._starts = [word.span.start for word in aligned.words]
        self._theirs = [word.span.start for word in aligned.window]

    @cached_property
    def _free(self) -> list[tuple[Quantity, set[str]]]:
        distinct = {q.key(): q for q in self.aligned.quantities}.values()
        free = [q for q in self.inside if not any(says(other, q) for other in distinct)]
        return [(q, _near(self.aligned.window, self._theirs, q)) for q in free]

    def of(self, ours: Quantity) -> Quantity | None:
        """The number of the same kind with most words around it in common, the first of them; None without any."""
        near = _near(self.aligned.words, self._starts, ours)
        rivals = [(len(near & there), -q.span.start, q) for q, there in self._free if comparable(ours, q)]
        shared, _, theirs = max(rivals, key=lambda rival: rival[:2], default=(0, 0, None))
        return theirs if shared else None


def _is_open(ours: Quantity, aligned: Aligned) -> bool:
    """May the source say it in a way that is not read: a year within its decade, or in a calendar of reigns?"""
    if ours.dimension != "year":
        return False
    decades = (q for q in aligned.source.quantities if q.dimension == "decade")
    return any(in_decade(ours, q) for q in decades) or ERA_YEAR.search(aligned.source.text) is not None


def _stands_in(ours: Quantity, aligned: Aligned) -> bool:
    """Has the source the very words, read as no number there: "once", which is eleven in a Spanish text only?"""
    if any(char.isdigit() for char in ours.text):
        return False
    return re.search(rf"\b{re.escape(ours.text)}\b", aligned.source.text, re.IGNORECASE) is not None


def comparable(ours: Quantity, theirs: Quantity) -> bool:
    """Are both of one kind: the same dimension, and for bare counts the same noun? So many percent and as many
    percentage points are too: one was taken for the other.
    """
    if {ours.dimension, theirs.dimension} == _PERCENT:
        return bool(set(ours.values) & set(theirs.values))
    if ours.dimension != theirs.dimension:
        return False
    if ours.dimension == "count":
        return bool(ours.noun) and stem(ours.noun) == stem(theirs.noun) if theirs.noun else False
    return True


def _near(words: Sequence[Word], starts: list[int], number: Quantity) -> set[str]:
    """The content stems that stand within reach of a number."""
    first = bisect.bisect_left(starts, number.span.start - _REACH)
    last = bisect.bisect_right(starts, number.span.start + _REACH)
    return {word.stem for word in words[first:last] if not is_function_word(word.stem)}


def _bears_out(ours: Quantity, theirs: Quantity) -> bool:
    """Does the source's number, if it is the very one of the claim, bear out the claim's bound, or that it has none?

    "12 people" is not borne out by "no more than 12", nor "at least 12" by "at most 12", nor "more than 12" by "12". Of
    what is rounded "more than" leaves nothing out: "over $5 million" is $5 million.
    """
    mine, other = ours.bound, theirs.bound
    if not same_value(ours, theirs) or theirs.dimension in ("year", "ordinal"):
        return True
    if mine is None:
        return other is None or ours.approximate or (other.is_open and ours.tolerance > 0)
    if other is not None:
        return mine.is_low == other.is_low
    if not mine.is_open or theirs.approximate:
        return True
    return any(b > a if mine.is_low else b < a for a in ours.values for b in theirs.values)


def _may_be(ours: Quantity, theirs: Quantity) -> bool:
    """Does the claim's exact number lie inside the source's bound: "8 people" beside "at most 12"?"""
    if ours.bound is not None or theirs.bound is None or ours.dimension != theirs.dimension:
        return False
    return any(a > b if theirs.bound.is_low else a < b for a in ours.values for b in theirs.values)
