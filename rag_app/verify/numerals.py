"""Numbers written in words, in English, German, French and Spanish, and in Han numerals: "fünfundzwanzig", "五百万".

No library fits: `text2num` wants to be told the language and gives places in words, not characters. The tables stand in
`numbers.json`; a word that means something else in another language ("once", "elf") counts only in its own.
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

from rag_app.text.languages import detect_language
from rag_app.types import Span


class Numeral(NamedTuple):
    """A number in words: its characters, its value, the scale of its last word ("two million": 1e6), and its form."""

    span: Span
    value: float
    scale: float = 1.0
    is_ordinal: bool = False
    is_year: bool = False


@functools.cache
def tables() -> dict[str, Any]:
    """The tables of `numbers.json`."""
    text = resources.files("rag_app.verify").joinpath("numbers.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _values(table: str) -> dict[str, dict[str, float]]:
    """One table: for each language its words with their values."""
    return {
        language: {word: float(value) for word, value in (pair.split("=") for pair in words.split())}
        for language, words in tables()[table].items()
    }


@dataclass(frozen=True, slots=True)
class _Part:
    """A word of a number; `kind` is small (0 to 19), tens, whole (stands for itself), scale or ordinal. A scale that is
    `alone` is a number by itself ("mille", "hundert"); "hundred" is none.
    """

    kind: str
    value: float
    language: str
    alone: bool = False


@functools.cache
def _parts() -> Mapping[str, _Part]:
    found: dict[str, _Part] = {}
    alone = tables()["alone"].split()
    for table, kind in (("small", "small"), ("tens", "tens"), ("whole", "whole"), ("scales", "scale"),
                        ("ordinals", "ordinal")):  # fmt: skip
        for language, words in _values(table).items():
            for word, value in words.items():
                found.setdefault(word, _Part(kind, value, language, word in alone))
    return found


@functools.lru_cache(maxsize=65_536)
def _part(word: str) -> _Part | None:
    """What a word is to a number; German numbers are one word."""
    word = word.casefold().replace("ss", "ß") if word.casefold().startswith("dreiss") else word.casefold()
    found = _parts().get(word)
    if found is None and len(word) > 8 and (value := german(word)) is not None:
        return _Part("whole", value, "de")
    return found


def german(word: str) -> float | None:
    """The value of a German number written as one word, below a million; None for any other word."""
    small, tens = _values_of("small", "de"), _values_of("tens", "de")
    if word in small or word in tens:
        return small.get(word) or tens[word]
    for name, base in (("tausend", 1000.0), ("hundert", 100.0)):
        left, found, right = word.partition(name)
        if found:
            many = german(left) if left else 1.0
            rest = german(right.removeprefix("und")) if right else 0.0
            return None if many is None or rest is None or rest >= base or many >= 1000 else many * base + rest
    left, found, right = word.partition("und")
    return small[left] + tens[right] if found and small.get(left, 99) < 10 and right in tens else None


@functools.cache
def _values_of(table: str, language: str) -> dict[str, float]:
    return _values(table)[language]


_WORD = re.compile(r"[^\W\d_]+")
_GAP = re.compile(r"[ \u00a0\u2009-]")
_CONNECTED = re.compile(r"[ \u00a0-](and|et|y)[ \u00a0-]", re.IGNORECASE)


def numerals_of(text: str) -> list[Numeral]:
    """The numbers in words and in Han numerals, in order; a lone "one", article or ordinal below three is none."""
    found = [numeral for run in _runs(text) for numeral in _read(run)]
    return sorted([*found, *han_numerals(text)]) if _HAN.search(text) else found


Run = list[tuple[Span, _Part, bool]]


def _runs(text: str) -> Iterator[Run]:
    """Words of numbers that follow each other; the flag says that a connector stands before the word."""
    run: Run = []
    for match in _WORD.finditer(text):
        part = _part(match.group())
        if part is None or not _counts(text, match, part, run):
            continue
        between = text[run[-1][0].end : match.start()] if run else ""
        connected = bool(run) and _CONNECTED.fullmatch(between) is not None
        if run and not connected and not _GAP.fullmatch(between):
            yield run
            run = []
        run.append((Span(*match.span()), part, connected))
    if run:
        yield run


def _counts(text: str, word: re.Match[str], part: _Part, run: Run) -> bool:
    """Is a word that means something else elsewhere a number here: beside one of its language, or in such a text?"""
    language = tables()["other meaning"].get(word.group().casefold())
    if language is None or (run and run[-1][1].language == part.language):
        return True
    following = _WORD.match(text, word.end() + 1)
    beside = _part(following.group()) if following else None
    return (beside is not None and beside.language == part.language) or detect_language(text, "") == language


@dataclass(slots=True)
class _Sum:
    """A number under way: `total` are finished thousands and above, `current` what is below."""

    start: int
    end: int
    total: float = 0.0
    current: float = 0.0
    words: int = 0
    scale: float = 1.0
    is_ordinal: bool = False
    smallest: float = float("inf")


def _read(run: Run) -> Iterator[Numeral]:
    """The numbers of a run: a word that cannot go on the number before it begins the next."""
    sums: list[_Sum] = []
    for span, part, connected in run:
        if not sums or not _add(sums[-1], part, connected):
            sums.append(_Sum(span.start, span.end))
            if not _add(sums[-1], part, connected=False):
                sums.pop()
                continue
        sums[-1].end = span.end
    for one in sums:
        value = one.total + one.current
        little = one.words == 1 and one.scale == 1 and (value == 1 or (one.is_ordinal and value < 3))
        if not little:
            yield Numeral(Span(one.start, one.end), value, one.scale, one.is_ordinal)


def _add(one: _Sum, part: _Part, connected: bool) -> bool:
    """Take the next word into the number; False when it does not go on it."""
    below = one.current % 100
    value = part.value
    if one.is_ordinal:
        return False
    if part.kind == "scale":
        return _add_scale(one, part, connected)
    fits = one.words == 0 or (
        (below == 0 and one.current >= 100 and value < 100)
        or (one.current == 0 and value < one.smallest)
        or (20 <= below <= 90 and below % 10 == 0 and value < 10)
        or (part.language == "fr" and below in (60, 80) and value < 20)
    )
    if part.language == "fr" and value == 20 and below == 4 and not connected:
        one.current += 76
    elif fits:
        one.current += value
        one.is_ordinal = part.kind == "ordinal"
    elif part.kind == "tens" and one.words == 1 and 10 < one.current < 21 and not connected and not one.total:
        one.current = one.current * 100 + value  # "nineteen eighty"
    elif one.total == 0 and 1100 <= one.current < 2100 and below % 10 == 0 and below >= 20 and value < 10:
        one.current += value
    else:
        return False
    one.words, one.scale = one.words + 1, 1.0
    return True


def _add_scale(one: _Sum, part: _Part, connected: bool) -> bool:
    """Multiply by a hundred or a dozen; a thousand and more closes what was read so far."""
    value = part.value
    if connected or value >= one.smallest or (one.words == 0 and not part.alone):
        return False
    many = one.current if one.words and one.current else 1.0
    if one.words and not one.current:
        return False
    if value <= 100:
        if many >= 100:
            return False
        one.current = many * value
    else:
        one.total, one.current, one.smallest = one.total + many * value, 0.0, value
    one.words, one.scale = one.words + 1, value
    return True


_MARKS = {"٫": ".", "٬": ",", "．": ".", "％": "%", "٪": "%", "／": "/", "－": "-"}
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d|[" + "".join(_MARKS) + "]")


def plain_digits(text: str) -> str:
    """The text with the digits and decimal marks of every script as ASCII, character for character."""
    if text.isascii():
        return text
    return _FOREIGN_DIGIT.sub(lambda m: _MARKS.get(m.group()) or str(unicodedata.decimal(m.group())), text)


_DIGITS = {han: value for value, han in enumerate(tables()["han digits"])} | tables()["han digits too"]
_SCALES: dict[str, int] = tables()["han scales"]
_ONE_OF = "".join(_DIGITS) + "".join(_SCALES)
_ERAS = "|".join(tables()["han eras"].split())
ERA_YEAR = re.compile(rf"(?:{_ERAS})\s?(?:\d+|[{_ONE_OF}]+|元)年?")
"""A year that only a calendar of reigns could turn into ours: neither read nor compared."""
_HAN = re.compile(f"[{_ONE_OF}]")
_HAN_RUN = re.compile(rf"(?<![{_ONE_OF}\d])[{_ONE_OF}]+")


def han_numerals(text: str) -> Iterator[Numeral]:
    """Numbers in Han numerals, of two characters or more or before a counter: 三千二百, 二〇二四年, 五人."""
    for match in _HAN_RUN.finditer(text):
        run, after = match.group(), text[match.end() : match.end() + 1]
        counts = len(run) > 1 or (after and after in tables()["han counters"] and run not in "千万萬")
        if run == "万一" or not (counts or text.endswith("百分之", 0, match.start())):
            continue
        value = han_value(run)
        if value is not None:
            is_year = len(run) == 4 and after == "年"
            yield Numeral(Span(*match.span()), value, float(_SCALES.get(run[-1], 1)), is_year=is_year)


def han_value(run: str) -> float | None:
    """The value of a run of Han numerals; None for two digits side by side, which mean "three or four"."""
    if all(char in _DIGITS for char in run):
        if len(run) == 2 and not set(run) & set("〇零"):
            return None
        return float("".join(str(_DIGITS[char]) for char in run))
    total = section = digit = 0.0
    for char in run:
        if char in _DIGITS:
            digit = 10 * digit + _DIGITS[char] if digit else float(_DIGITS[char])
        elif (scale := _SCALES[char]) < 10_000:
            section += (digit or 1) * scale
            digit = 0.0
        else:
            total += (section + digit or 1) * scale
            section = digit = 0.0
    return total + section + digit
