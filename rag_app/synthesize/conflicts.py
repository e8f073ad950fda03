"""Sources that give different numbers or dates for the same thing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.documents import Document

from rag_app.synthesize.expects import expected
from rag_app.synthesize.measures import measure_of, numbers_with
from rag_app.synthesize.relevance import Unit, bag, is_content

_VALUE = re.compile(r"\d[\d.,]*\d|\d")
_STAMP = re.compile(r"^\s*\[[\d:.]+\]\s*")
_HOW_MANY = re.compile(r"\b(?:how many|wie viele?)\s+(\w+)", re.IGNORECASE)
_COUNTS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_ZAHLEN = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"]
_SPELLED = {word: str(value) for words in (_COUNTS, _ZAHLEN) for value, word in enumerate(words, start=1)}
_NUMBER = re.compile(rf"\d[\d.,]*\d|\d|\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_FEWEST_SHARED = 0.3
_FEWEST_ASKED = 0.6


def conflict(question: str, units: Sequence[Unit], evidence: Sequence[Document]) -> str | None:
    """A note that names the disagreeing passages by number, None when they agree.

    Two sentences disagree when the question asks for a number or a date, they come from different sources, are about
    the same (they share words with each other, and with the question about as many as the first one does), and have no
    value of the kind that is asked for in common.
    """
    if expected(question) not in ("number", "date"):
        return None
    values = [_answers(question, unit.text) for unit in units]
    asked = [_asked(question, unit.text) for unit in units]
    for place, one in enumerate(units):
        for other in range(place + 1, len(units)):
            if _source(one, evidence) == _source(units[other], evidence):
                continue
            if min(asked[place], asked[other]) < _FEWEST_ASKED * max(*asked, 1):
                continue
            first, second = values[place], values[other]
            if first and second and not first & second and _same_subject(one.text, units[other].text):
                return f"The sources disagree [{one.number}][{units[other].number}]."
    return None


def _answers(question: str, text: str) -> set[str]:
    """The values of `text` that may answer the question: of the counted thing, of the measure, or any."""
    text = _STAMP.sub("", text)
    counted = _HOW_MANY.search(question)
    if counted:
        wanted = bag(counted.group(1))
        found = {
            _plain(match.group())
            for match in _NUMBER.finditer(text)
            if wanted & bag(" ".join(re.findall(r"\w+", text[match.end() :])[:2]))
        }
    elif (measure := measure_of(question)) is not None:
        found = {_plain(value) for value in numbers_with(text, measure)}
    else:
        found = {_plain(value) for value in _VALUE.findall(text)}
    return found - {_plain(value) for value in _VALUE.findall(question)}


def _plain(value: str) -> str:
    value = _SPELLED.get(value.casefold(), value).replace(",", "").rstrip(".")
    return value[:-3] if value.endswith(".00") else value


def _asked(question: str, text: str) -> int:
    """How many content words of the question the text has."""
    content = {stem for word in re.findall(r"\w+", question.casefold()) if is_content(word) for stem in bag(word)}
    return len(content & bag(text))


def _source(unit: Unit, evidence: Sequence[Document]) -> str:
    document = evidence[unit.number - 1]
    return str(document.metadata.get("source") or document.id)


def _same_subject(one: str, other: str) -> bool:
    a, b = ({stem for stem in bag(text) if not stem[0].isdigit()} for text in (one, other))
    return bool(a and b) and len(a & b) / min(len(a), len(b)) >= _FEWEST_SHARED
