"""Dates in text, whole or in part: "7 November 2018", "Nov. 2018", "March 3", "2018-11-07", "2018年11月7日"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_app.types import Span
from rag_app.verify.numerals import han_value, plain_digits

_MONTHS = (
    "january januar janvier enero jan", "february februar février febrero feb", "march märz mars marzo mar",
    "april avril abril apr", "may mai mayo", "june juni juin junio jun", "july juli juillet julio jul",
    "august août agosto aug", "september septembre septiembre sept sep", "october oktober octobre octubre oct",
    "november novembre noviembre nov", "december dezember décembre diciembre dec",
)  # fmt: skip
_NUMBER_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
_MONTH = "|".join(sorted(_NUMBER_OF, key=len, reverse=True))
_DAY, _YEAR = r"(?:[12]\d|3[01]|0?[1-9])", r"(?:1\d{3}|20\d\d)"
_DATE = re.compile(
    rf"\b(?P<iso_y>{_YEAR})-(?P<iso_m>0[1-9]|1[0-2])-(?P<iso_d>{_DAY})\b"
    rf"|\b(?P<a>{_DAY})(?P<mark>[./])(?P<b>{_DAY})[./](?P<num_y>{_YEAR})\b"
    rf"|\b(?:(?P<d1>{_DAY})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?)?(?P<m>{_MONTH})\b\.?"
    rf"(?:\s+(?P<d2>{_DAY})(?:st|nd|rd|th)?\b(?!\s*[:%]))?(?:,?\s+(?:of\s+|de\s+)?(?P<y>{_YEAR})\b)?",
    re.IGNORECASE,
)
_HAN = "〇零一二三四五六七八九十"
_CJK = re.compile(
    rf"(?:(?P<y>{_YEAR}|[{_HAN}]{{4}})\s?年\s?)?(?<!\d)(?P<m>1[0-2]|0?[1-9]|[{_HAN}]{{1,2}})\s?月\s?"
    rf"(?:(?P<d>{_DAY}|[{_HAN}]{{1,3}})\s?[日号號])?"
)


@dataclass(frozen=True, slots=True)
class Date:
    """A date of a text; None for what it does not say. `swapped` when day and month may stand in either order;
    `is_numeric` when the month is a number too.
    """

    year: int | None
    month: int | None
    day: int | None
    span: Span
    swapped: bool = False
    is_numeric: bool = False

    def agrees(self, other: Date) -> bool:
        """Is everything that both say the same, in some reading of an open order?"""
        return any(
            all(a is None or b is None or a == b for a, b in zip(ours, theirs, strict=True))
            for ours in self.readings()
            for theirs in other.readings()
        )

    def readings(self) -> list[tuple[int | None, int | None, int | None]]:
        """(year, month, day), in both orders when the order is open."""
        plain = (self.year, self.month, self.day)
        return [plain, (self.year, self.day, self.month)] if self.swapped else [plain]

    def known(self) -> int:
        """How many of year, month and day it says."""
        return sum(part is not None for part in (self.year, self.month, self.day))


def dates_of(text: str) -> list[Date]:
    """The dates of `text` that name a month, in order; a month alone ("may", "March") is none, a year alone neither.

    "3/4/2018" may be April or March: such a date is `swapped`. With dots the day comes first.
    """
    plain = plain_digits(text)
    found = [date for match in _DATE.finditer(plain) if (date := _read(match)) is not None]
    if "月" in plain:
        found.extend(date for match in _CJK.finditer(plain) if (date := _read_cjk(match)) is not None)
        found.sort(key=lambda date: date.span)
    return found


def _read(match: re.Match[str]) -> Date | None:
    span = Span(*match.span())
    if match["iso_y"]:
        return Date(int(match["iso_y"]), int(match["iso_m"]), int(match["iso_d"]), span, is_numeric=True)
    if match["num_y"]:
        a, b = int(match["a"]), int(match["b"])
        day, month = (a, b) if b <= 12 else (b, a)
        if month > 12:
            return None
        swapped = match["mark"] == "/" and a <= 12 and b <= 12 and a != b
        return Date(int(match["num_y"]), month, day, span, swapped, is_numeric=True)
    day_text, year = match["d1"] or match["d2"], match["y"]
    if not day_text and not year:
        return None
    month = _NUMBER_OF[match["m"].casefold()]
    return Date(int(year) if year else None, month, int(day_text) if day_text else None, span)


def _read_cjk(match: re.Match[str]) -> Date | None:
    """A date with 年, 月 and 日; a month alone is none."""
    year, month, day = (_number(match[part]) for part in "ymd")
    if month is None or not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31) or (year is day is None):
        return None
    return Date(year, month, day, Span(match.start(), match.start() + len(match.group().rstrip())), is_numeric=True)


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    value = float(text) if text.isdecimal() else han_value(text)
    return None if value is None else int(value)
