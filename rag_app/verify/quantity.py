"""A number of a text as a value with its precision, and when two of them say the same."""

from __future__ import annotations

from dataclasses import dataclass

from rag_app.types import Span
from rag_app.verify.bounds import Bound
from rag_app.verify.words import stem

LOOSE = frozenset(("count", "year", "ordinal"))
"""Dimensions of bare numbers: they may be compared with a number that has a unit."""

VERSION = "version"
"""Dimension of a number that is a name; its `noun` is the number as written."""

YEARS_ABOUT = 5.0
"""What "about 1990" allows: five percent of a year would be a century."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text. `values` has every reading ("1.234" is 1234 or 1.234), in the base unit of `dimension`.

    `tolerance` is half of the last digit as written, in the same unit; 0 for exact counts. `factor` is what the unit
    made of the number: "24 years" beside a bare "24" is compared without it. `parts` are what "8 minutes and
    20 seconds" is the sum of; `is_share` says that a percentage was read from words ("one in five", "two thirds of").
    """

    values: tuple[float, ...]
    dimension: str
    tolerance: float
    span: Span
    text: str
    approximate: bool = False
    bound: Bound | None = None
    noun: str = ""
    factor: float = 1.0
    parts: tuple[float, ...] = ()
    is_share: bool = False

    @property
    def bounded_span(self) -> Span:
        """Its span with the words that bound it."""
        return self.span if self.bound is None else self.bound.around(self.span)

    def key(self) -> tuple[object, ...]:
        """What it says, without where: two numbers with the same key are compared alike."""
        bound = self.bound and self.bound.name
        return (self.values, self.dimension, self.tolerance, self.approximate, bound, self.noun, self.factor,
                self.parts, self.is_share)  # fmt: skip


def same_value(claim: Quantity, source: Quantity) -> bool:
    """Do both say the same number? Rounding goes to the coarser side's last digit; "about" allows five percent,
    of a year five years.

    A claim may give a part of what the source sums up: "8 minutes" of "8 minutes and 20 seconds". The number of a
    version is compared as written: 1.10 is not 1.1.
    """
    if VERSION in (claim.dimension, source.dimension) and _is_written(claim) and _is_written(source):
        return _as_written(claim) == _as_written(source)
    if claim.dimension != source.dimension and not _may_compare(claim, source):
        return False
    units = (1.0, 1.0) if claim.dimension == source.dimension else (claim.factor, source.factor)
    slack = max(claim.tolerance / units[0], source.tolerance / units[1])
    for a in (value / units[0] for value in claim.values):
        for b in (value / units[1] for value in (*source.values, *source.parts)):
            allowed = slack
            if claim.approximate or source.approximate:
                is_year = "year" in (claim.dimension, source.dimension)
                allowed = max(allowed, YEARS_ABOUT if is_year else 0.05 * abs(b))
            if abs(a - b) <= allowed * (1 + 1e-9) + 1e-9 * max(abs(a), abs(b)):
                return True
    return False


def _is_written(quantity: Quantity) -> bool:
    """Is it written in digits and no ordinal? "The fifth version" and "version five" are compared by value."""
    return quantity.dimension != "ordinal" and any(char.isdigit() for char in quantity.text)


def _as_written(quantity: Quantity) -> str:
    return quantity.noun if quantity.dimension == VERSION else quantity.text


def says(claim: Quantity, source: Quantity) -> bool:
    """Does the source's number bear out the claim's: the same value, or one inside the bound that the claim gives?

    "more than 100" is borne out by 116 and "at least 100" by 100, not by 90; between two bounds the values decide. A
    number far beyond a bound (twice, or half) is another number. "The 1990s" are borne out by 1994.
    """
    if claim.dimension == "decade" and source.dimension in ("year", "count"):
        return in_decade(source, claim)
    if same_value(claim, source):
        return True
    if claim.bound is None or claim.dimension != source.dimension:
        return False
    if source.bound is not None and source.bound.is_low != claim.bound.is_low:
        return False
    if claim.dimension == "count" and claim.noun and source.noun and stem(claim.noun) != stem(source.noun):
        return False
    low, high = (1.0, 2.0) if claim.bound.is_low else (0.5, 1.0)
    return any(low * a <= b <= high * a for a in claim.values for b in source.values if a > 0)


def in_decade(year: Quantity, decade: Quantity) -> bool:
    """Does the year lie in the decade?"""
    return any(0 <= value - first < 10 for value in year.values for first in decade.values)


def _may_compare(claim: Quantity, source: Quantity) -> bool:
    """Different dimensions may still be one number: a bare count or year beside anything but a decade."""
    if "decade" in (claim.dimension, source.dimension):
        return False
    return claim.dimension in LOOSE or source.dimension in LOOSE
