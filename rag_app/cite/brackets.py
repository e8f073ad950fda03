"""One bracket with numbers: its grammar, its numbers checked against the number of sources, and what wraps it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_app.types import Span

BLANK = r"[ \t\u00a0\u2009\u202f\u3000]*"
_DASH = r"(?:-|‐|‑|–|—|−|~|～|－)"
_ITEM = rf"\d+(?:{BLANK}{_DASH}{BLANK}\d+)?"
_LIST = rf"{_ITEM}(?:{BLANK}(?:[,;&、，；]|and|und|et|y)(?:{BLANK}(?:and|und|et|&))?{BLANK}{_ITEM})*"
BRACKET = re.compile(rf"(?:[\[［]{BLANK}({_LIST}){BLANK}[\]］]|【{BLANK}({_LIST}){BLANK}(?:†[^】\n]*)?】)")
HALF_BRACKET = re.compile(r"[\[［【][\d \t\u00a0\u2009\u202f\u3000,;&、，；\-‐‑–—−~～－anduety]*(?:†[^】\n]*)?\Z")
# What may stand around a run of brackets, and its end.
WRAPPERS = (
    (re.compile(r"\((?:(?:see|see also|cf\.|siehe|vgl\.|source:|sources:)[ \t]+)?(?=[\[［【])", re.I), ")"),
    (re.compile(r"（(?=[\[［【])"), "）"),
    (re.compile(r"\*\*(?=[\[［【])"), "**"),
    (re.compile(r"\*(?=[\[［【])"), "*"),
    (re.compile(r"<sup>(?=[\[［【])", re.I), "</sup>"),
    (re.compile(r"\^(?=[\[［【])"), "^"),
    (re.compile(r"\[(?=\[\d)"), "]"),
)
HALF_WRAPPER = re.compile(
    r"(?:\((?:s|se|see|see a|see al|see als|see also|c|cf|cf\.|si|sie|sieh|siehe|v|vg|vgl|vgl\.|so|sou|sour|sourc|"
    r"source|source:|sources|sources:)?[ \t]*|（|\*{1,2}|\^|\[|<|<s|<su|<sup|<sup>)\Z",
    re.I,
)
_PARSED_ITEM = re.compile(rf"(\d+)(?:({BLANK}{_DASH}{BLANK})(\d+))?")
JOIN = re.compile(rf"{BLANK}(?:(?:[,;、，；&]|(?<=[ \t])(?:and|und|et|y|or|oder)\b){BLANK})?")
HALF_JOIN = re.compile(rf"{BLANK}(?:[,;、，；&]|a|an|and|u|un|und|e|et|y|o|or|od|ode|oder)?{BLANK}\Z")
WIDEST_RANGE = 100
LONGEST_RUN = 32
"""Brackets that are read as one run: a stream reads a run anew with each piece, until it ends."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One bracket of the cleaned text: the sources it names, in its own order, and where it stands."""

    numbers: tuple[int, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedText:
    """An answer with its markers read: `text` is cleaned, spans refer to it, `phantoms` in order of appearance."""

    text: str
    markers: tuple[Marker, ...] = ()
    phantoms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bracket:
    """A bracket as read: `text` keeps only valid numbers ("" when none is)."""

    text: str
    numbers: tuple[int, ...]
    phantoms: tuple[str, ...]
    join: str = ""


def read_integers(found: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d{1,9}", found.group(1) or found.group(2)))


def read_numbers(found: re.Match[str], n: int, join: str) -> Bracket:
    """The numbers of a bracket: those in 1..n, the phantoms, and the bracket rewritten to the valid ones."""
    body = found.group(1) or found.group(2)
    numbers: list[int] = []
    phantoms: list[str] = []
    kept: list[str] = []
    for item in _PARSED_ITEM.finditer(body):
        first, last = _integer(item.group(1)), _integer(item.group(3) or item.group(1))
        low, high = min(first, last), max(first, last)
        inside = range(max(low, 1), min(high, n) + 1)
        phantoms.extend(_outside(low, high, n))
        numbers.extend(number for number in inside if number not in numbers)
        if len(inside) == high - low + 1:
            kept.append(item.group())
        elif len(inside) > 1:
            kept.append(f"{inside[0]}{item.group(2)}{inside[-1]}")
        elif inside:
            kept.append(str(inside[0]))
    if not phantoms:
        return Bracket(found.group(), tuple(numbers), (), join)
    text = f"{found.group()[0]}{', '.join(kept)}{found.group()[-1]}" if numbers else ""
    return Bracket(text, tuple(numbers), tuple(phantoms), join)


def _integer(digits: str) -> int:
    # A number of a thousand digits is a phantom like any other; Python refuses to convert more than 4300.
    return int(digits[:4000])


def _outside(low: int, high: int, n: int) -> list[str]:
    """The numbers of low..high outside 1..n; of a range wider than anyone cites only its ends."""
    if high - low < WIDEST_RANGE:
        return [str(number) for number in range(low, high + 1) if not 1 <= number <= n]
    return [str(number) for number in (low, high) if not 1 <= number <= n]


def renumber(parsed: ParsedText) -> tuple[ParsedText, dict[int, int]]:
    """The text with its markers renumbered 1, 2, ... in order of appearance, and the map from old to new numbers."""
    new: dict[int, int] = {}
    for marker in parsed.markers:
        for number in marker.numbers:
            new.setdefault(number, len(new) + 1)
    pieces: list[str] = []
    markers: list[Marker] = []
    position = length = 0
    for marker in parsed.markers:
        pieces.append(parsed.text[position : marker.span.start])
        length += len(pieces[-1])
        numbers = tuple(new[number] for number in marker.numbers)
        opening, closing = parsed.text[marker.span.start], parsed.text[marker.span.end - 1]
        bracket = f"{opening}{', '.join(map(str, numbers))}{closing}"
        pieces.append(bracket)
        markers.append(Marker(numbers, Span(length, length + len(bracket))))
        length += len(bracket)
        position = marker.span.end
    pieces.append(parsed.text[position:])
    return ParsedText("".join(pieces), tuple(markers), parsed.phantoms), new
