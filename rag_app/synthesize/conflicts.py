"""Sources that disagree: other numbers or dates for the same thing, other names in the same sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from langchain_core.documents import Document

from rag_app.synthesize.expects import expected
from rag_app.synthesize.measures import measure_of, numbers_with
from rag_app.synthesize.relevance import Unit, bag, is_content
from rag_app.text.instructions import is_instruction

_VALUE = re.compile(r"\d[\d.,]*\d|\d")
_STAMP = re.compile(r"^\s*\[[\d:.]+\]\s*")
_HOW_MANY = re.compile(r"\b(?:how many|wie viele?)\s+(\w+)", re.IGNORECASE)
_COUNTS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_ZAHLEN = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"]
_SPELLED = {word: str(value) for words in (_COUNTS, _ZAHLEN) for value, word in enumerate(words, start=1)}
_NUMBER = re.compile(rf"\d[\d.,]*\d|\d|\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_FEWEST_SHARED = 0.3
_FEWEST_ASKED = 0.7
_FEWEST_WORDS = 5
_FEWEST_EQUAL = 0.6
_LONGEST_NAME = 6


def disagreement(
    question: str, cited: Sequence[Unit], read: Sequence[Unit], evidence: Sequence[Document]
) -> tuple[Unit, Unit] | None:
    """A cited sentence and one of another source that says otherwise; None when what was read agrees.

    Sentences disagree when they are the same but for a name or a number that the question does not have; or when the
    question asks for a number or a date, they are about the same (they share words with each other, and with the
    question its numbers and about as many words), and no value of the kind that is asked for is in both. A sentence
    that reads as an instruction to a model is no other version.
    """
    counted = expected(question) in ("number", "date")
    for one in cited:
        for other in read:
            if _source(one, evidence) == _source(other, evidence):
                continue
            differs = _exchanged(question, one.text, other.text) or (
                counted and _counts_otherwise(question, one, other)
            )
            if differs and not is_instruction(other.text):
                return one, other
    return None


def _exchanged(question: str, one: str, other: str) -> bool:
    """Whether the sentences are the same but for names or numbers, none of which the question has."""
    a, b = (_WORD.findall(_STAMP.sub("", text)) for text in (one, other))
    shorter = min(len(a), len(b))
    if shorter < _FEWEST_WORDS or len({*a} & {*b}) < _FEWEST_EQUAL * min(len({*a}), len({*b})):
        return False
    steps = [step for step in SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if step[0] != "equal"]
    pieces = [piece for _, i, j, k, m in steps for piece in (a[i:j], b[k:m])]
    asked = {word.casefold() for word in _WORD.findall(question)}
    return bool(steps) and all(
        0 < len(piece) <= _LONGEST_NAME
        and any(word[0].isupper() or word[0].isdigit() for word in piece)
        and asked.isdisjoint(word.casefold() for word in piece)
        for piece in pieces
    )


def _counts_otherwise(question: str, one: Unit, other: Unit) -> bool:
    shares = sorted((_asked(question, one.text), _asked(question, other.text)))
    if shares[0] < _FEWEST_ASKED * max(shares[1], 1):
        return False
    asked = set(_VALUE.findall(question))
    if asked & set(_VALUE.findall(one.text)) != asked & set(_VALUE.findall(other.text)):
        return False
    first, second = _answers(question, one.text), _answers(question, other.text)
    return bool(first and second) and not first & second and _same_subject(one.text, other.text)


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
