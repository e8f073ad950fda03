"""Numbers that say one thing together: "8 minutes and 20 seconds", "one in five", "two thirds of", "10-24 years"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_app.types import Span
from rag_app.verify.quantity import Quantity

_AND = re.compile(r"\s+(?:(?:and|und|et|y)\s+)?|\s*(?=\d)", re.IGNORECASE)
_SUMS = frozenset(("time", "length", "mass"))
_OUT_OF = re.compile(r"\s+(?:(?:in|out\s+of|of)\s+every|in|out\s+of|von|sur|de\s+cada)\s+(?:the\s+)?", re.IGNORECASE)
_ONE = re.compile(r"\b(one|an?|1|einer?|une?|uno|una)$", re.IGNORECASE)
_SHARE = re.compile(
    r"\b(?:(?P<one>one|a)[\s-](?P<of>half|third|quarter|fourth|fifth|sixth|eighth|tenth)(?=\s+of\b)"
    r"|(?P<many>two|three|four|five|seven|nine)[\s-](?P<ths>thirds|quarters|fourths|fifths|sixths|eighths|tenths))\b",
    re.IGNORECASE,
)
_HOW_MANY = {"one": 1, "a": 1, "two": 2, "three": 3, "four": 4, "five": 5, "seven": 7, "nine": 9}
_PIECES = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_TO = re.compile(r"\s?[-–—]\s?|\s(?:to|bis|à|a)\s", re.IGNORECASE)
_WIDEST_RATIO = 1000


def join_neighbors(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """The quantities of `text` with those made one that say one thing together, in order."""
    shares = [_share(text, match) for match in _SHARE.finditer(text)]
    joined: list[Quantity] = []
    place = 0
    for quantity in found:
        while place < len(shares) and shares[place].span.end <= quantity.span.start:
            place += 1
        if place < len(shares) and quantity.span.overlaps(shares[place].span):
            continue
        before = joined[-1] if joined else None
        if before is not None and (one := _sum(text, before, quantity) or _ratio(text, before, quantity)):
            joined[-1] = one
        elif one := _one_in(text, quantity):
            joined.append(one)
        else:
            if before is not None and _is_range(text, before, quantity):
                joined[-1] = _like(before, quantity)
            joined.append(quantity)
    return sorted([*joined, *shares], key=lambda q: q.span) if shares else joined


def _sum(text: str, a: Quantity, b: Quantity) -> Quantity | None:
    """ "5 feet 11 inches": the same dimension in a smaller unit, less than one of the larger."""
    between = text[a.span.end : b.span.start]
    if a.dimension != b.dimension or a.dimension not in _SUMS or not _AND.fullmatch(between):
        return None
    if b.factor >= a.factor or len(a.values) > 1 or len(b.values) > 1 or a.tolerance or not 0 < b.values[0] < a.factor:
        return None
    return replace(
        a, values=(a.values[0] + b.values[0],), tolerance=b.tolerance, span=Span(a.span.start, b.span.end),
        text=text[a.span.start : b.span.end], parts=(*(a.parts or a.values), *b.values), factor=b.factor,
    )  # fmt: skip


def _ratio(text: str, a: Quantity, b: Quantity) -> Quantity | None:
    """ "3 out of 10": a share, when neither number has a unit."""
    if not _OUT_OF.fullmatch(text, a.span.end, b.span.start) or a.dimension != "count" or b.dimension != "count":
        return None
    return _as_share(text, a.span.start, a.values[0], b)


def _one_in(text: str, b: Quantity) -> Quantity | None:
    """ "one in five"; "one" alone is no quantity."""
    if b.dimension != "count" or b.values[0] < 2:
        return None
    head = text[max(0, b.span.start - 40) : b.span.start]
    between = _OUT_OF.search(head)
    one = _ONE.search(head[: between.start()]) if between and between.end() == len(head) else None
    return _as_share(text, b.span.start - len(head) + one.start(), 1.0, b) if one else None


def _as_share(text: str, start: int, many: float, b: Quantity) -> Quantity | None:
    whole = b.values[0]
    if len(b.values) > 1 or b.tolerance or not 0 < many < whole <= _WIDEST_RATIO or not float(whole).is_integer():
        return None
    span = Span(start, b.span.end)
    return Quantity((100 * many / whole,), "percent", 0.5, span, span.slice(text), is_share=True)


def _share(text: str, match: re.Match[str]) -> Quantity:
    many = _HOW_MANY[(match["one"] or match["many"]).casefold()]
    pieces = _PIECES[(match["of"] or match["ths"][:-1]).casefold()]
    return Quantity((100 * many / pieces,), "percent", 0.5, Span(*match.span()), match.group(), is_share=True)


def _is_range(text: str, a: Quantity, b: Quantity) -> bool:
    """ "10-24 years": the first number has no unit of its own, and the second follows it at once."""
    bare = a.dimension == "count" and a.factor == 1 and (not a.noun or a.noun in ("to", "bis", "à", "a"))
    return bare and b.dimension not in ("count", "year", "ordinal", "decade") and (
        _TO.fullmatch(text, a.span.end, b.span.start) is not None
    )  # fmt: skip


def _like(a: Quantity, b: Quantity) -> Quantity:
    """The first number of a range in the unit of the second."""
    values = tuple(value * b.factor for value in a.values)
    return replace(a, values=values, dimension=b.dimension, factor=b.factor, noun="", tolerance=a.tolerance * b.factor)
