"""Numbers in text, with units, scale words and precision: "1.2 million" is 1,200,000 give or take 50,000."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from rag_app.types import Span
from rag_app.verify.words import NUMBER_WORDS, is_function_word, stem

_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "bn": 1e9, "mn": 1e6, "mio": 1e6,
    "dozen": 12.0, "lakh": 1e5, "crore": 1e7, "tausend": 1e3, "millionen": 1e6, "milliarden": 1e9, "mille": 1e3,
    "millions": 1e6, "billions": 1e9, "thousands": 1e3, "milliards": 1e9, "millones": 1e6, "mil": 1e3,
    "万": 1e4, "億": 1e8, "亿": 1e8, "千": 1e3, "百": 1e2, "兆": 1e12,
}  # fmt: skip

# unit -> (dimension, factor to the dimension's base unit)
_UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _table in {
    "length": "mm millimetre millimeter .001;cm centimetre centimeter .01;m metre meter mètre metro 1;"
    "km kilometre kilometer 1000;in inch inches .0254;ft foot feet .3048;yd yard .9144;mi mile 1609.344",
    "mass": "mg milligram 1e-6;g gram gramme .001;kg kilogram kilo 1;t tonne 1000;lb lbs pound .45359237;"
    "oz ounce .02834952",
    "time": "ms millisecond .001;s sec second sekunde 1;min minute minuto 60;h hr hour stunde heure hora 3600;"
    "day tag jour día 86400;week woche semaine semana 604800;month monat mois mes 2629746;"
    "year yr jahr an ans année año 31556952;decade 315569520;century centuries 3155695200",
    "volume": "ml millilitre milliliter .001;l litre liter 1;gal gallon 3.785411784",
    "power": "w watt 1;kw kilowatt 1000;mw megawatt 1e6;gw gigawatt 1e9",
    "energy": "j joule 1;kj 1000;kwh 3.6e6;mwh 3.6e9",
    "data": "byte 1;kb 1e3;mb 1e6;gb 1e9;tb 1e12",
    "frequency": "hz hertz 1;khz 1e3;mhz 1e6;ghz 1e9",
    "area": "hectare ha 1e4;acre 4046.856",
    "money:usd": "usd dollar 1;cent .01",
    "money:eur": "eur euro 1",
    "money:gbp": "gbp 1",
    "percent": "percent prozent 1",
}.items():
    for _group in _table.split(";"):
        *_names, _factor = _group.split()
        for _name in _names:
            _UNITS[_name] = (_dimension, float(_factor))
_SYMBOLS = {"$": "money:usd", "€": "money:eur", "£": "money:gbp", "¥": "money:jpy", "₹": "money:inr"}
_WORDS_TOO = {"in", "an", "ans", "ha", "min", "mi", "t", "s"}

# Han and kana stand right beside digits: no space tells where a number begins and what it counts.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_BEGINS_CJK = re.compile(f"[{_CJK}]")
HAN_NUMBER = re.compile(
    "[一二三四五六七八九十百千万亿億兆〇零两兩]{2}|[一二三四五六七八九十两兩](?=[年月日个個名人元円])"
)
_DIGITS = r"\d+(?:[.,'’\u202f\u00a0]\d+)*"
_WORD_NUMBER = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<currency>[$€£¥₹])?\s?(?<!\.)(?<!(?![{_CJK}])\w)(?P<sign>[-−](?=\d))?(?P<digits>{_DIGITS})(?P<ordinal>st|nd|rd|th)?"
    rf"|\b(?P<words>(?:{_WORD_NUMBER})(?:[- ](?:{_WORD_NUMBER}))*)\b"
    rf"|\b(?P<bare>a|half a)\s(?=(?:dozen|hundred|thousand|million|billion)\b)",
    re.IGNORECASE,
)
_AFTER_SCALE = re.compile(rf"[\s-]?(?P<scale>(?:{_SCALE})|[kmb](?=\b))(?![^\W\d_])", re.IGNORECASE)
_AFTER_CJK = re.compile(r"[万億亿千百兆]+")
_AFTER_UNIT = re.compile(r"[\s-]?(?P<unit>%|°\s?[CF]|[$€£]|percentage points?|per ?cent|[^\W\d_]+)(?:\^?[²³23])?")
_APPROX = re.compile(
    r"\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.|c\.|over|more than|etwa|rund|"
    r"environ|près de|unos|casi)\s+(?:[$€£]\s?)?$|[~≈]\s?$",
    re.IGNORECASE,
)
_BOUNDS = (
    (
        "at least",
        re.compile(r"\b(?:at least|more than|over|above|exceed(?:s|ed|ing)?|no less than|minimum of)\s+[$€£]?$", re.I),
    ),
    (
        "at most",
        re.compile(r"\b(?:at most|less than|under|below|up to|no more than|fewer than|maximum of)\s+[$€£]?$", re.I),
    ),
)


_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|by|from|until|till|of|to|during|year|through|before|after|early|late|mid|and|spring|summer|"
    r"autumn|winter|seit|jahr|bis|vor|nach|en|desde|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|"
    r"nov\w*|dec\w*)[\s,.-]+$|\b\d{1,2},\s$|\($",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text. `values` has every reading ("1.234" is 1234 or 1.234), in the base unit of `dimension`.

    `tolerance` is half of the last digit as written, in the same unit; 0 for exact counts. `factor` is what the unit
    made of the number: "24 years" beside a bare "24" is compared without it.
    """

    values: tuple[float, ...]
    dimension: str
    tolerance: float
    span: Span
    text: str
    approximate: bool = False
    bound: str | None = None
    noun: str = ""
    factor: float = 1.0


def _readings(digits: str) -> tuple[tuple[float, int], ...]:
    """Every reading of written digits with its count of decimals."""
    digits = re.sub(r"['’\u202f\u00a0]", "", digits)
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


def _words_value(words: str) -> float:
    parts = [NUMBER_WORDS[part] for part in re.split(r"[- ]", words.casefold()) if part in NUMBER_WORDS]
    return float(sum(parts))


def quantities_of(text: str) -> list[Quantity]:
    """The numbers of `text` in order, words and digits alike; "one" alone is no number."""
    found: list[Quantity] = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        start += len(match.group()) - len(match.group().lstrip())
        if found and start < found[-1].span.end:
            continue
        if match["digits"]:
            readings = _readings(match["digits"])
        elif match["words"]:
            if match["words"].casefold() == "one":
                continue
            readings = ((_words_value(match["words"]), 0),)
        else:
            readings = ((0.5 if "half" in match["bare"].casefold() else 1.0, 0),)
        if readings:
            found.append(_finish(text, match, readings, start, end))
    return found


def _finish(text: str, match: re.Match[str], readings: tuple[tuple[float, int], ...], start: int, end: int) -> Quantity:
    scale, scaled = 1.0, False
    while (after := _AFTER_SCALE.match(text, end)) or (after := _AFTER_CJK.match(text, end)):
        word = (after.groupdict().get("scale") or after.group()).casefold()
        if word in ("k", "m", "b"):
            if not match["currency"] and word != "k":
                break
            scale *= {"k": 1e3, "m": 1e6, "b": 1e9}[word]
        else:
            scale *= math.prod(_SCALES[c] for c in word) if word not in _SCALES else _SCALES[word]
        scaled, end = True, after.end()
    dimension, factor, noun = _unit(text, end, match)
    if dimension[1]:
        end = dimension[1]
    name = dimension[0]
    digits = match["digits"] or ""
    if noun and is_function_word(stem(noun)):
        noun = ""
    before = text[max(0, start - 24) : start]
    is_year = re.fullmatch(r"1\d{3}|20\d\d|2100", digits) is not None and not scaled
    if name == "count" and is_year and (noun in ("", "年") or _BEFORE_YEAR.search(before)):
        name, noun = "year", ""
    if match["ordinal"]:
        name = "ordinal"
    decimals = min(decimals for _, decimals in readings)
    tolerance = 0.5 * 10.0**-decimals * scale * factor if scaled or decimals else 0.0
    sign = -1.0 if match["sign"] else 1.0
    return Quantity(
        values=tuple(sign * value * scale * factor for value, _ in readings),
        dimension=name,
        tolerance=tolerance,
        span=Span(start, end),
        text=text[start:end],
        approximate=bool(_APPROX.search(before)),
        bound=next((bound for bound, pattern in _BOUNDS if pattern.search(before)), None),
        noun=noun,
        factor=factor,
    )


def _unit(text: str, end: int, match: re.Match[str]) -> tuple[tuple[str, int], float, str]:
    """((dimension, end of the unit or 0), factor, noun that is counted)."""
    if match["currency"]:
        return (_SYMBOLS[match["currency"]], 0), 1.0, ""
    after = _AFTER_UNIT.match(text, end)
    if after is None:
        return ("count", 0), 1.0, ""
    unit = after["unit"]
    lowered = unit.casefold().replace(" ", "")
    if unit == "%" or lowered == "percent":
        return ("percent", after.end()), 1.0, ""
    if lowered.startswith("percentagepoint"):
        return ("percentage points", after.end()), 1.0, ""
    if unit[0] == "°":
        return (f"degrees {unit[-1].upper()}", after.end()), 1.0, ""
    if unit in _SYMBOLS:
        return (_SYMBOLS[unit], after.end()), 1.0, ""
    for name in (lowered, lowered.removesuffix("s"), lowered.removesuffix("en"), lowered.removesuffix("n")):
        # A single letter is a unit only right behind digits ("5 m"), in lower case.
        if name in _UNITS and (len(name) > 1 or (match["digits"] and unit.islower() and unit != "a")):
            if name in ("in", "an", "ans", "ha", "min", "mi", "t", "s") and not re.match(
                r"\s?\w+\b(?!\s+\w)", text[end:]
            ):
                continue
            dimension, factor = _UNITS[name]
            return (dimension, after.end()), factor, ""
    return ("count", 0), 1.0, lowered[0] if _BEGINS_CJK.match(lowered) else lowered


def same_value(claim: Quantity, source: Quantity) -> bool:
    """Do both say the same number? Rounding goes to the coarser side's last digit; "about" allows five percent."""
    if claim.dimension != source.dimension and not _may_compare(claim, source):
        return False
    units = (1.0, 1.0) if claim.dimension == source.dimension else (claim.factor, source.factor)
    slack = max(claim.tolerance / units[0], source.tolerance / units[1])
    for a in (value / units[0] for value in claim.values):
        for b in (value / units[1] for value in source.values):
            allowed = slack
            if claim.approximate or source.approximate:
                allowed = max(allowed, 0.05 * abs(b))
            if abs(a - b) <= allowed * (1 + 1e-9) + 1e-9 * max(abs(a), abs(b)):
                return True
    return False


def says(claim: Quantity, source: Quantity) -> bool:
    """Does the source's number bear out the claim's: the same value, or one inside the bound that the claim gives?

    "more than 100" is borne out by 116 and "at least 100" by 100, not by 90; between two bounds the values decide. A
    number far beyond a bound (twice, or half) is another number.
    """
    if same_value(claim, source):
        return True
    if claim.bound is None or source.bound not in (None, claim.bound) or claim.dimension != source.dimension:
        return False
    if claim.dimension == "count" and claim.noun and source.noun and stem(claim.noun) != stem(source.noun):
        return False
    low, high = (1.0, 2.0) if claim.bound == "at least" else (0.5, 1.0)
    return any(low * a <= b <= high * a for a in claim.values for b in source.values if a > 0)


def _may_compare(claim: Quantity, source: Quantity) -> bool:
    """Different dimensions may still be one number: a bare count or year beside anything but percent."""
    loose = {"count", "year", "ordinal"}
    return claim.dimension in loose or source.dimension in loose
