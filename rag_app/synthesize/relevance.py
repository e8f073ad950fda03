"""How well a sentence answers a question, told from signals that make sense in any corpus.

Coverage of the question's content words by rarity, cosine, what happens to the cosine when a word that the sentence
lacks is left out of the question, names and numbers that are missing, and the expected type of answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document

from rag_app.cite.align import quotable_units
from rag_app.synthesize.expects import expected, has_kind
from rag_app.text import Analyzer
from rag_app.text.languages import STOP_WORDS
from rag_app.types import Span

Vectors = npt.NDArray[np.float32]
Embed = Callable[[list[str], bool], Vectors]

_ANALYZER = Analyzer()
_ALL_STOPS = frozenset().union(*STOP_WORDS.values())
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w[\w.'’/-]*\w|\w")
_SUBSTANCE = re.compile(r"\w+\W+\w+\W+\w|\d|[\u3040-\u9fff]{4}")
_CJK = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")
# Words that ask, and words around them that name no subject.
_ASKING_WORDS = """
many much long often far old big high tall large small good get give tell please explain know kind type sort name named
called there use used does did may shall must let viele viel lange oft hoch groß alt weit heißt gibt nennen combien quel
quelle cuánto cuánta cuántos cuántas quanto quanti
"""
_ASKING = frozenset(_ASKING_WORDS.split())

SIGNALS = (
    "cover_unit",  # share of the question's term weight in the sentence
    "cover_near",  # ... in the sentence, its neighbors, its table head and its section path
    "cover_chunk",  # ... in the passage
    "cover_all",  # ... in all passages together
    "scattered",  # cover_all - cover_near: the words are there, but not together
    "absent",  # share of term weight that no candidate has at all
    "names_missing",  # share of names and numbers of the question that the passage lacks
    "cosine",  # of question and sentence
    "cosine_near",  # of question and the mean of the sentence and its neighbors
    "misled",  # how much the cosine rises when one missing word is left out of the question
    "misled_sum",  # the same, summed over missing words
    "echoed",  # how much it falls: the sentence says the missing word in other words
    "type_ok",  # the expected type of answer is there
    "type_missing",  # it is not
    "news",  # log of the number of content words that the question has not
    "first",  # 1 / place of the passage
    "fragment",  # a heading or scrap of fewer than five words
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, list item or table row of a passage; `span` counts from the passage's start."""

    number: int
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Terms:
    """A question's content terms with their weights: rare terms weigh more."""

    weights: dict[str, float]
    names: frozenset[str]

    def cover(self, held: frozenset[str] | set[str]) -> float:
        """The share of the weight that `held` has, in [0, 1]; 0 for a question without words."""
        total = sum(self.weights.values())
        return sum(weight for term, weight in self.weights.items() if term in held) / total if total else 0.0


def bag(text: str, language: str = "none") -> frozenset[str]:
    """The terms of a text, stemmed in `language`."""
    return frozenset(_ANALYZER.terms(text, language=language))


def language_of(question: str, evidence: Sequence[Document]) -> str:
    """The language in which question and evidence are stemmed: that of both together, since questions are short."""
    return _ANALYZER.detect("\n".join([question, *(document.page_content[:1000] for document in evidence[:4])]))


def is_content(word: str, language: str = "none") -> bool:
    """Whether a word names a subject rather than asks or connects in `language`; "none" means in any."""
    return word not in STOP_WORDS.get(language, _ALL_STOPS) and word not in _ASKING


def question_terms(question: str, texts: Sequence[frozenset[str]], language: str = "none") -> Terms:
    """The content terms of a question, weighed by their rarity among `texts` (bags of stems)."""
    content = [match.group() for match in _WORD.finditer(question) if is_content(match.group().casefold(), language)]
    stems = bag(" ".join(content or [question]), language)
    frequency = Counter(term for text in texts for term in text)
    weights = {stem: math.log(1 + (len(texts) + 1) / (frequency[stem] + 0.5)) for stem in sorted(stems)}
    names = [
        term
        for match in list(_WORD.finditer(question))[1:]
        if match.group()[0].isupper() or _DIGIT.search(match.group())
        for term in bag(match.group(), language)
    ]
    return Terms(weights, frozenset(name for name in names if name in weights))


def units_of(evidence: Sequence[Document]) -> list[Unit]:
    """All units of the evidence that can answer, passage by passage; numbers count from 1. Headings answer nothing."""
    units = (
        Unit(number, span, span.slice(document.page_content))
        for number, document in enumerate(evidence, start=1)
        for span in quotable_units(document.page_content)
    )
    return [unit for unit in units if not unit.text.startswith("#") and _SUBSTANCE.search(unit.text)]


def signals(
    question: str,
    evidence: Sequence[Document],
    units: Sequence[Unit],
    *,
    candidates: Sequence[Document] = (),
    embed: Embed | None = None,
) -> npt.NDArray[np.float64]:
    """(units, SIGNALS): the signals of each unit; those that need vectors are 0 without `embed`.

    `candidates` are more passages of the corpus (those that retrieval found): the rarity of a word is told from them.
    """
    if not units:
        return np.zeros((0, len(SIGNALS)))
    language = language_of(question, evidence)
    chunks = [bag(document.page_content, language) | _path(document, language) for document in evidence]
    around = [*chunks, *(bag(document.page_content, language) for document in candidates)]
    terms = question_terms(question, around, language)
    everywhere = frozenset().union(*chunks)
    anywhere = frozenset().union(*around)
    near = _neighborhoods(units, evidence, language)
    cosines, nearby, changes = _cosines(question, units, embed, language)
    cover_all, absent = terms.cover(everywhere), 1 - terms.cover(anywhere)
    kind = expected(question)
    table = np.zeros((len(units), len(SIGNALS)))
    for row, unit in enumerate(units):
        own, chunk = bag(unit.text, language), chunks[unit.number - 1]
        missing = [change[row] for stems, change in changes if near[row].isdisjoint(stems)]
        names = [name for name in terms.names if name not in chunk]
        has_type = has_kind(unit.text, kind, question) if kind else None
        cover_near = terms.cover(near[row])
        news = sum(1 for stem in own if stem not in terms.weights and stem not in _ALL_STOPS)
        table[row] = (
            terms.cover(own),
            cover_near,
            terms.cover(chunk),
            cover_all,
            cover_all - cover_near,
            absent,
            terms.cover(set(names)),
            cosines[row],
            nearby[row],
            max([0.0, *missing]),
            sum(change for change in missing if change > 0),
            min([0.0, *missing]),
            float(has_type is True),
            float(has_type is False),
            math.log1p(news),
            1 / unit.number,
            float(len(unit.text.split()) < 5 and len(_CJK.findall(unit.text)) < 6),
        )
    return table


def _path(document: Document, language: str) -> frozenset[str]:
    titles = [str(title) for title in document.metadata.get("section_path") or ()]
    return bag(" ".join([*titles, str(document.metadata.get("title") or "")]), language)


def _neighborhoods(units: Sequence[Unit], evidence: Sequence[Document], language: str) -> list[frozenset[str]]:
    """What stands near each unit: itself, the units beside it, the head of its table, its section path."""
    bags = [bag(unit.text, language) for unit in units]
    first: dict[int, int] = {}
    near: list[frozenset[str]] = []
    for row, unit in enumerate(units):
        first.setdefault(unit.number, row)
        sides = [
            bags[side] for side in (row - 1, row + 1) if 0 <= side < len(units) and units[side].number == unit.number
        ]
        head = bags[first[unit.number]] if "|" in unit.text or unit.text.count(",") > 2 else frozenset()
        titles = evidence[unit.number - 1].metadata.get("section_path") or ()
        path = bag(" ".join(str(title) for title in titles), language)
        near.append(bags[row].union(path, head, *sides))
    return near


def _cosines(
    question: str, units: Sequence[Unit], embed: Embed | None, language: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], list[tuple[frozenset[str], npt.NDArray[np.float64]]]]:
    """The cosine of each unit and of its surroundings; for each content word its stems and the change without it."""
    if embed is None:
        return np.zeros(len(units)), np.zeros(len(units)), []
    shorter = [
        (bag(match.group(), language), without)
        for match in _WORD.finditer(question)
        if is_content(match.group().casefold(), language) and not _CJK.search(match.group())
        if (without := " ".join(f"{question[: match.start()]} {question[match.end() :]}".split()))
    ]
    texts = list(dict.fromkeys(unit.text for unit in units))
    place = {text: row for row, text in enumerate(texts)}
    rows = np.asarray(embed(texts, False), dtype=np.float64)[[place[unit.text] for unit in units]]
    asked = np.asarray(embed([question, *(without for _, without in shorter)], True), dtype=np.float64)
    scores = rows @ asked.T
    changes = [(stems, scores[:, column] - scores[:, 0]) for column, (stems, _) in enumerate(shorter, start=1)]
    return scores[:, 0], _surroundings(rows, units) @ asked[0], changes


def _surroundings(rows: npt.NDArray[np.float64], units: Sequence[Unit]) -> npt.NDArray[np.float64]:
    """Unit rows of the mean of each unit and its neighbors in the same passage."""
    numbers = np.array([unit.number for unit in units])
    summed = rows.copy()
    same = (numbers[1:] == numbers[:-1])[:, None]
    summed[1:] += rows[:-1] * same
    summed[:-1] += rows[1:] * same
    return np.asarray(summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-9))
