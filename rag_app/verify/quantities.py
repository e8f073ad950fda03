"""Numbers in text, with units, scale words and precision: "1.2 million" is 1,200,000 give or take 50,000."""

from __future__ import annotations

import bisect
import math
import re
from dataclasses import dataclass

from rag_app.types import Span
from rag_app.verify.bounds import bound_of
from rag_app.verify.compounds import join_neighbors
from rag_app.verify.numerals import ERA_YEAR, Numeral, numerals_of, plain_digits, tables
from rag_app.verify.quantity import VERSION, Quantity, same_value, says
from rag_app.verify.versions import is_version
from rag_app.verify.words import is_function_word, stem

_HAN_SCALES: dict[str, float] = tables()["han scales"]
_SCALES: dict[str, float] = {**tables()["scale words"], **_HAN_SCALES}
# unit -> (dimension, factor to the dimension's base unit)
_UNITS: dict[str, tuple[str, float]] = {
    name: (dimension, float(group.split()[-1]))
    for dimension, table in tables()["units"].items()
    for group in table.split(";")
    for name in group.split()[:-1]
}
_SYMBOLS = {"$": "money:usd", "€": "money:eur", "£": "money:gbp", "¥": "money:jpy", "₹": "money:inr"}
_WORDS_TOO = {"in", "an", "ans", "ha", "min", "mi", "t", "s"}

# Han and kana stand right beside digits: no space tells where a number begins and what it counts.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_BEGINS_CJK = re.compile(f"[{_CJK}]")
# With a plain space only what cannot be two numbers: "10 000", "1 234 567".
_DIGITS = r"\d{1,3}(?: \d{3})*(?: \d{3} \d{3}| 000)(?!\d)(?:,\d+)?|\d+(?:[.,'’\u202f\u00a0\u2009]\d+)*"
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<currency>[$€£¥₹])?\s?(?<!\.)(?:(?<!(?![{_CJK}])\w)|(?<=\bv))(?P<sign>[-−](?=\d))?(?P<digits>{_DIGITS})(?P<ordinal>st|nd|rd|th)?"
    rf"|\b(?P<bare>a|half a)\s(?=(?:dozen|hundred|thousand|million|billion)\b)",
    re.IGNORECASE,
)
_AFTER_SCALE = re.compile(rf"[\s-]?(?P<scale>(?:{_SCALE})|[kmb](?=\b))(?![^\W\d_])", re.IGNORECASE)
_AFTER_CJK = re.compile("[" + "".join(tables()["han scales"]) + "]+")
_MORE_CJK = re.compile(f"({_DIGITS})([百千万萬]?)(?![.,])")
_DECADE = re.compile(r"['’]?s\b|er[n]?\b")
_BEFORE_DECADE = re.compile(r"(?:\b(?:the|early|late|mid|in)[\s-]+|['’‘])$", re.IGNORECASE)
_YEARS_OF = re.compile(r"\b(?:années|años)\s$", re.IGNORECASE)
_AND_PART = re.compile(r"\s+and a (half|quarter)\b|\s?([½¼¾])", re.IGNORECASE)
_LARGEST = 1e280
_NO_VALUE = ((0.0, 0),)
"""The reading of "2.4.1", which is a name only."""
_SHORTEST = 3
"""No German plural in -e is shorter: "Tage"; "he" and "ine" are none."""
_EXACT = (12.0, 100.0)
"""Scale words that round nothing: two dozen are 24 and "one hundred" is 100."""
_PART_OF = {"half": 0.5, "quarter": 0.25, "½": 0.5, "¼": 0.25, "¾": 0.75}
_AFTER_UNIT = re.compile(
    r"[\s-]?(?P<unit>%|°\s?[CF]|[$€£]|percentage points?|per ?cent|pour cent|por ciento|[^\W\d_]+)(?:\^?[²³23])?"
)
_OF = re.compile(r"\s(?:d['’]|de\s|of\s)")
_APPROX = re.compile(
    r"\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.|c\.|over|"
    r"(?<!\bno\s)(?<!\bnot\s)more than|etwa|rund|environ|près de|unos|casi)\s+(?:[$€£]\s?)?$|[~≈]\s?$",
    re.IGNORECASE,
)
_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|by|from|until|till|of|to|during|year|through|before|after|early|late|mid|and|spring|summer|"
    r"autumn|winter|seit|jahr|bis|vor|nach|en|desde|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|"
    r"nov\w*|dec\w*)[\s,.-]+$|\b\d{1,2},\s$|\($",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A number as found: its readings with their decimals, and the match of its digits or its words."""

    readings: tuple[tuple[float, int], ...]
    match: re.Match[str] | None = None
    numeral: Numeral | None = None

    def group(self, name: str) -> str | None:
        return self.match[name] if self.match is not None else None


def _readings(digits: str) -> tuple[tuple[float, int], ...]:
    """Every reading of written digits with its count of decimals."""
    digits = re.sub(r"['’ \u202f\u00a0\u2009]", "", digits)
    separators = re.findall(r"[.,]", digits)
    if not separators:
        return ((float(digits), 0),)
    groups = re.split(r"[.,]", digits)
    thousands = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3 and groups[0] != "0"
    if len(separators) == 1:
        decimal = (float(f"{groups[0]}.{groups[1]}"), len(groups[1]))
        if not thousands:
            return (decimal,)
        return (float("".join(groups)), 0), decimal
    if thousands and len(set(separators)) == 1:
        return ((float("".join(groups)), 0),)
    if len(set(separators)) == 2 and separators[-1] not in separators[:-1]:
        return ((float("".join(groups[:-1]) + "." + groups[-1]), len(groups[-1])),)
    return ()


def quantities_of(text: str) -> list[Quantity]:
    """The numbers of `text` in order, in words and in digits of any script; "one" alone is no number.

    A year of an era ("令和5年") is none either.
    """
    plain = plain_digits(text)
    eras = [match.span() for match in ERA_YEAR.finditer(plain)]
    places: list[tuple[int, int, re.Match[str] | None, Numeral | None]] = [
        *((*_begin(match), match, None) for match in _NUMBER.finditer(plain)),
        *((*numeral.span, None, numeral) for numeral in numerals_of(plain)),
    ]
    found: list[Quantity] = []
    for start, end, match, numeral in sorted(places, key=lambda place: place[:2]):
        if (found and start < found[-1].span.end) or _is_inside(eras, start):
            continue
        if numeral is not None:
            found.append(_finish(text, plain, start, end, _Reading(((numeral.value, 0),), numeral=numeral)))
        elif match is not None and match["digits"]:
            readings = _readings(match["digits"])
            if not readings and is_version(plain[max(0, start - 24) : start], match["digits"], counts=False):
                readings = _NO_VALUE
            if readings:
                found.append(_finish(text, plain, start, end, _Reading(readings, match)))
        elif match is not None:
            half = "half" in match["bare"].casefold()
            found.append(_finish(text, plain, start, end, _Reading(((0.5, 1) if half else (1.0, 0),), match)))
    return join_neighbors(plain, [quantity for quantity in found if _is_finite(quantity)])


def _is_finite(quantity: Quantity) -> bool:
    """Is it a number that a float holds, in any unit? A longer one is compared by its words alone."""
    return all(abs(value) <= _LARGEST for value in (*quantity.values, quantity.tolerance))


def _is_inside(spans: list[tuple[int, int]], place: int) -> bool:
    """Does the place lie in one of these, which are in order and apart?"""
    number = bisect.bisect_right(spans, place, key=lambda span: span[0])
    return number > 0 and place < spans[number - 1][1]


def _begin(match: re.Match[str]) -> tuple[int, int]:
    lead = len(match.group()) - len(match.group().lstrip())
    return match.start() + lead, match.end()


def _finish(text: str, plain: str, start: int, end: int, reading: _Reading) -> Quantity:
    """The quantity with its scale word and its unit."""
    readings, digits = reading.readings, reading.group("digits") or ""
    scale, scaled = (reading.numeral.scale, reading.numeral.scale > 1) if reading.numeral else (1.0, False)
    times, written = 1.0, end
    part = _AND_PART.match(plain, end)
    if part and all(not decimals for _, decimals in readings):
        more = _PART_OF[(part.group(1) or part.group(2)).casefold()]
        readings, end = tuple((value + more, 1) for value, _ in readings), part.end()
    while (after := _AFTER_SCALE.match(plain, end)) or (after := _AFTER_CJK.match(plain, end)):
        word = (after.groupdict().get("scale") or after.group()).casefold()
        if word in ("k", "m", "b"):
            if not reading.group("currency") and word != "k":
                break
            times *= {"k": 1e3, "m": 1e6, "b": 1e9}[word]
        else:
            times *= math.prod(_SCALES[c] for c in word) if word not in _SCALES else _SCALES[word]
        scaled, end = True, after.end()
    if digits and scaled and (more_cjk := _MORE_CJK.match(plain, end)) and plain[end - 1] in _HAN_SCALES:
        # 3万5千, 1億2000万: the next part is of a smaller scale.
        rest = _readings(more_cjk[1])
        smaller = _SCALES.get(more_cjk[2], 1.0)
        if rest and rest[0][0] * smaller < times:
            readings = tuple((value + rest[0][0] * smaller / times, 0) for value, _ in readings)
            end, scaled, scale = more_cjk.end(), more_cjk[2] != "", smaller / times
    scale = 0.0 if scale * times in _EXACT else scale * times
    before = plain[max(0, start - 24) : start]
    decade = _decade(plain, end, digits, before)
    (dimension, stop), factor, noun = _unit(plain, end, reading)
    if scaled and dimension == "count" and (of := _OF.match(plain, end)):
        # "1,5 million d'euros", "millones de euros"
        found = _unit(plain, of.end(), reading)
        if found[0][0] != "count":
            (dimension, stop), factor, noun = found
    end = stop or end
    if noun and is_function_word(stem(noun)):
        noun = ""
    if decade is not None:
        dimension, end, noun, factor, readings = "decade", decade[1], "", 1.0, ((decade[0], 0),)
    elif digits and is_version(before, digits, counts=dimension == "count" and not scaled):
        dimension, noun, factor, end = VERSION, digits, 1.0, written
    elif dimension == "count" and not scaled and _is_year(digits, reading, noun, before):
        dimension, noun = "year", ""
    if reading.group("ordinal") or (reading.numeral and reading.numeral.is_ordinal):
        dimension = "ordinal"
    if before.endswith("百分之"):
        dimension = "percent"
    decimals = min(decimals for _, decimals in readings)
    tolerance = 0.5 * 10.0**-decimals * scale * factor if scaled or decimals else 0.0
    sign = -1.0 if reading.group("sign") else 1.0
    bound = bound_of(plain, start, end, dimension)
    is_near = bound is not None and bound.is_near
    return Quantity(
        values=tuple(sign * value * times * factor for value, _ in readings),
        dimension=dimension,
        tolerance=tolerance,
        span=Span(start, end),
        text=text[start:end],
        approximate=is_near or bool(_APPROX.search(before)),
        bound=None if is_near else bound,
        noun=noun,
        factor=factor,
    )


def _is_year(digits: str, reading: _Reading, noun: str, before: str) -> bool:
    value = reading.readings[0][0]
    written = re.fullmatch(r"1\d{3}|20\d\d|2100", digits) is not None
    spelled = reading.numeral is not None and reading.numeral.is_year and 1000 <= value <= 2100
    return (written or spelled) and (noun in ("", "年") or _BEFORE_YEAR.search(before) is not None)


def _decade(text: str, end: int, digits: str, before: str) -> tuple[float, int] | None:
    """(first year, end) of "1990s", "1990er" and "the 90s"; None for another number."""
    if re.fullmatch(r"1\d\d0|20\d0", digits):
        after = _DECADE.match(text, end)
        if after or _YEARS_OF.search(before):
            return float(digits), after.end() if after else end
    if re.fullmatch(r"[2-9]0", digits) and (after := _DECADE.match(text, end)) and _BEFORE_DECADE.search(before):
        return 1900 + float(digits), after.end()
    return None


def _unit(text: str, end: int, reading: _Reading) -> tuple[tuple[str, int], float, str]:
    """((dimension, end of the unit or 0), factor, noun that is counted)."""
    if currency := reading.group("currency"):
        return (_SYMBOLS[currency], 0), 1.0, ""
    after = _AFTER_UNIT.match(text, end)
    if after is None:
        return ("count", 0), 1.0, ""
    unit = after["unit"]
    lowered = unit.casefold().replace(" ", "")
    if unit == "%" or lowered in ("percent", "pourcent", "porciento"):
        return ("percent", after.end()), 1.0, ""
    if lowered.startswith("percentagepoint"):
        return ("percentage points", after.end()), 1.0, ""
    if unit[0] == "°":
        return (f"degrees {unit[-1].upper()}", after.end()), 1.0, ""
    if unit in _SYMBOLS:
        return (_SYMBOLS[unit], after.end()), 1.0, ""
    plurals = [lowered.removesuffix(ending) for ending in ("s", "en", "n")]
    if lowered.endswith("e") and len(lowered) > _SHORTEST:
        plurals.append(lowered[:-1])
    for name in (lowered, *plurals):
        # A single letter is a unit only right behind digits ("5 m"), in lower case.
        if name in _UNITS and (len(name) > 1 or (reading.group("digits") and unit.islower() and unit != "a")):
            if name in _WORDS_TOO and not re.match(r"\s?\w+\b(?!\s+\w)", text[end:]):
                continue
            dimension, factor = _UNITS[name]
            return (dimension, after.end()), factor, ""
    return ("count", 0), 1.0, lowered[0] if _BEGINS_CJK.match(lowered) else lowered


__all__ = ["Quantity", "quantities_of", "same_value", "says"]
