"""Bounds around a number: "no more than 12", "12 or more", "mindestens 12", "au plus 12", "12人以上"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from rag_app.types import Span
from rag_app.verify.numerals import tables

_BEFORE, _BEHIND = 44, 30
_NEARLY = re.compile(r"\b(?:just|slightly|barely|(?:a )?(?:little|bit)|knapp|etwas|un peu|poco)\s$", re.IGNORECASE)
_LASTS = re.compile(r"\b(?:over|über)\s+$", re.IGNORECASE)
""" "Over 18 months" is mostly "during": of a time it is no bound."""


@dataclass(frozen=True, slots=True)
class Bound:
    """at least | more than | at most | less than. Its words stand up to `before` characters before the number, or
    `behind` after it; `is_near` is "just over", a rounding.
    """

    name: str
    before: int = 0
    behind: int = 0
    is_near: bool = False

    @property
    def is_low(self) -> bool:
        """Must the number be reached? Else it must not be passed."""
        return self.name in ("at least", "more than")

    @property
    def is_open(self) -> bool:
        """Is the number itself left out?"""
        return self.name in ("more than", "less than")

    def around(self, number: Span) -> Span:
        """The number with the words that bound it."""
        return Span(number.start - self.before, number.end + self.behind)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    """(bound, what stands before its number, what stands behind it); the longer phrases come first."""
    found = []
    for name, said in tables()["bounds"].items():
        before, behind = "|".join(said["before"]), "|".join(said["behind"]) or "(?!)"
        found.append((
            name,
            re.compile(rf"(?:(?:\b|(?=n['’]t))(?:{before})\s+|(?:{said['before cjk']}))[$€£¥₹]?\s?$", re.IGNORECASE),
            re.compile(rf"(?:\s?[^\W\d_]+)?\s(?:{behind})\b|{said['behind cjk']}", re.IGNORECASE),
        ))  # fmt: skip
    return tuple(found)


def bound_of(text: str, start: int, end: int, dimension: str) -> Bound | None:
    """The bound of the number from `start` to `end`; None without any."""
    first = max(0, start - _BEFORE)
    before, behind = text[first:start], text[end : end + _BEHIND]
    for name, pattern, after in _patterns():
        if found := pattern.search(before):
            if dimension == "time" and _LASTS.search(before):
                return None
            near = _NEARLY.search(before[: found.start()]) is not None
            return Bound(name, before=len(before) - found.start(), is_near=near)
        if found := after.match(behind):
            return Bound(name, behind=found.end())
    return None
