"""Dates in text, whole or in part: "7 November 2018", "Nov. 2018", "March 3", "2018-11-07"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_app.types import Span

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
    rf"|\b(?P<a>{_DAY})[./](?P<b>{_DAY})[./](?P<num_y>{_YEAR})\b"
    rf"|\b(?:(?P<d1>{_DAY})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?)?(?P<m>{_MONTH})\b\.?"
    rf"(?:\s+(?P<d2>{_DAY})(?:st|nd|rd|th)?\b(?!\s*[:%]))?(?:,?\s+(?:of\s+|de\s+)?(?P<y>{_YEAR})\b)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Date:
    """A date of a text; None for what it does not say. `swapped` when day and month may stand in either order."""

    year: int | None
    month: int | None
    day: int | None
    span: Span
    swapped: bool = False

    def agrees(self, other: Date) -> bool:
        """Is everything that both say the same?"""
        if self.swapped or other.swapped:
            pairs = [(self.year, other.year)]
        else:
            pairs = [(self.year, other.year), (self.month, other.month), (self.day, other.day)]
        return all(a is None or b is None or a == b for a, b in pairs)

    def known(self) -> int:
        """How many of year, month and day it says."""
        return sum(part is not None for part in (self.year, self.month, self.day))


def dates_of(text: str) -> list[Date]:
    """The dates of `text` that name a month, in order; a month alone ("may", "March") is none, a year alone neither.

    "3/4/2018" may be April or March: such a date is `swapped` and only its year is compared.
    """
    found: list[Date] = []
    for match in _DATE.finditer(text):
        span = Span(*match.span())
        if match["iso_y"]:
            found.append(Date(int(match["iso_y"]), int(match["iso_m"]), int(match["iso_d"]), span))
        elif match["num_y"]:
            a, b = int(match["a"]), int(match["b"])
            day, month = (a, b) if b <= 12 else (b, a)
            if month <= 12:
                found.append(Date(int(match["num_y"]), month, day, span, swapped=a <= 12 and b <= 12 and a != b))
        else:
            day_text, year = match["d1"] or match["d2"], match["y"]
            if day_text or year:
                month = _NUMBER_OF[match["m"].casefold()]
                found.append(Date(int(year) if year else None, month, int(day_text) if day_text else None, span))
    return found
