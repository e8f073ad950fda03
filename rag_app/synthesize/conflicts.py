"""Sources that give different numbers or dates for the same thing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.documents import Document

from rag_app.synthesize.expects import expected
from rag_app.synthesize.relevance import Unit, bag

_VALUE = re.compile(r"\d[\d.,]*\d|\d")
_FEWEST_SHARED = 0.3


def conflict(question: str, units: Sequence[Unit], evidence: Sequence[Document]) -> str | None:
    """A note that names the disagreeing passages by number, None when they agree.

    Two sentences disagree when the question asks for a number or a date, they come from different sources, are about
    the same (they share words beyond the question's numbers), and have no value in common that the question lacks.
    """
    if expected(question) not in ("number", "date"):
        return None
    asked = set(_values(question))
    for place, one in enumerate(units):
        for other in units[place + 1 :]:
            if _source(one, evidence) == _source(other, evidence):
                continue
            first, second = set(_values(one.text)) - asked, set(_values(other.text)) - asked
            if first and second and not first & second and _same_subject(one.text, other.text):
                return f"The sources disagree [{one.number}][{other.number}]."
    return None


def _values(text: str) -> list[str]:
    return [value.replace(",", "").rstrip(".") for value in _VALUE.findall(text)]


def _source(unit: Unit, evidence: Sequence[Document]) -> str:
    document = evidence[unit.number - 1]
    return str(document.metadata.get("source") or document.id)


def _same_subject(one: str, other: str) -> bool:
    a, b = ({stem for stem in bag(text) if not stem[0].isdigit()} for text in (one, other))
    return bool(a and b) and len(a & b) / min(len(a), len(b)) >= _FEWEST_SHARED
