"""How well a sentence answers a question, told from signals that make sense in any corpus.

Coverage of the question's content words by rarity, cosine, names and numbers that are missing or belong to another
section, and the expected type of answer.
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
from rag_app.cite.place import place_of
from rag_app.synthesize.expects import expected, has_kind
from rag_app.synthesize.measures import measure_of, numbers_with
from rag_app.text import Analyzer
from rag_app.text.languages import STOP_WORDS
from rag_app.types import Span

Vectors = npt.NDArray[np.float32]
Embed = Callable[[list[str], bool], Vectors]

_ANALYZER = Analyzer()
_ALL_STOPS = frozenset().union(*STOP_WORDS.values())
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_DIGIT = re.compile(r"\d")
_HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
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
    "cover_context",  # ... in the sentence, the one before it and the heading it stands under
    "cover_near",  # ... in the sentence, its neighbors, its table head and its section path
    "in_document",  # ... in anything found of the same document, its name included
    "names_missing",  # share of names and numbers of the question that the passage lacks
    "names_away",  # share of those that head another section and no section of the sentence's
    "cosine",  # of question and sentence
    "cosine_near",  # of question and the mean of the sentence and its neighbors
    "cosine_head",  # of question and the sentence with its heading before it
    "type_missing",  # the expected type of answer is not there
    "measure_missing",  # the number that is asked for (money, time ...) is not there
    "first",  # 1 / place of the passage
    "asks",  # the sentence is itself a question
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
    """The terms of a text, stemmed in `language`; a possessive is the name itself."""
    return frozenset(_ANALYZER.terms(_POSSESSIVE.sub("", text), language=language))


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
    paths = [_path(document, language) for document in evidence]
    chunks = [bag(document.page_content, language) | path for document, path in zip(evidence, paths, strict=True)]
    around = [*chunks, *(bag(document.page_content, language) for document in candidates)]
    terms = question_terms(question, around, language)
    documents = _documents([*evidence, *candidates], around, language)
    near = _neighborhoods(units, evidence, language)
    heads = [heading_of(unit, evidence) for unit in units]
    headings = frozenset().union(*(bag(head, language) for head in heads))
    cosines = _cosines(question, units, heads, embed)
    kind, measure = expected(question), measure_of(question)
    table = np.zeros((len(units), len(SIGNALS)))
    for row, unit in enumerate(units):
        own, chunk, passage = bag(unit.text, language), chunks[unit.number - 1], evidence[unit.number - 1]
        before = (
            units[row - 1] if row and units[row - 1].number == unit.number and heads[row - 1] == heads[row] else None
        )
        context = own | bag(heads[row], language) | (bag(before.text, language) if before else frozenset())
        table[row] = (
            terms.cover(own),
            terms.cover(context),
            terms.cover(near[row]),
            terms.cover(documents[_source(passage)]),
            terms.cover(terms.names - chunk),
            terms.cover((terms.names & headings) - context - paths[unit.number - 1]),
            *cosines[row],
            float(kind is not None and not has_kind(unit.text, kind, question)),
            float(measure is not None and not numbers_with(unit.text, measure)),
            1 / unit.number,
            float(unit.text.rstrip(" *|_").endswith(("?", "？"))),
            float(len(unit.text.split()) < 5 and len(_CJK.findall(unit.text)) < 6),
        )
    return table


def heading_of(unit: Unit, evidence: Sequence[Document]) -> str:
    """The nearest heading above a unit in its passage, else the last of the passage's section path, else ""."""
    document = evidence[unit.number - 1]
    above = _HEADING.findall(document.page_content, 0, unit.span.start)
    path = place_of(document, 0).section_path or ("",)
    return str(above[-1] if above else path[-1]).strip()


def _source(document: Document) -> str:
    return str(document.metadata.get("source") or document.id)


def _documents(
    documents: Sequence[Document], bags: Sequence[frozenset[str]], language: str
) -> dict[str, frozenset[str]]:
    """All terms found of each source, those of its name and its titles included."""
    held: dict[str, frozenset[str]] = {}
    for document, terms in zip(documents, bags, strict=True):
        source = _source(document)
        name = bag(source.replace("_", " "), language) if source not in held else frozenset()
        held[source] = held.get(source, frozenset()) | terms | name | _path(document, language)
    return held


def _path(document: Document, language: str) -> frozenset[str]:
    titles = list(place_of(document, 0).section_path)
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
        titles = place_of(evidence[unit.number - 1], unit.number).section_path
        path = bag(" ".join(str(title) for title in titles), language)
        near.append(bags[row].union(path, head, *sides))
    return near


def _cosines(
    question: str, units: Sequence[Unit], heads: Sequence[str], embed: Embed | None
) -> npt.NDArray[np.float64]:
    """(units, 3): the cosine of the question with each unit, with its surroundings, and with it under its heading."""
    if embed is None:
        return np.zeros((len(units), 3))
    headed = [f"{head}: {unit.text}" if head else unit.text for head, unit in zip(heads, units, strict=True)]
    texts = list(dict.fromkeys([*(unit.text for unit in units), *headed]))
    place = {text: row for row, text in enumerate(texts)}
    vectors = np.asarray(embed(texts, False), dtype=np.float64)
    rows = vectors[[place[unit.text] for unit in units]]
    asked = np.asarray(embed([question], True), dtype=np.float64)[0]
    under = vectors[[place[text] for text in headed]]
    return np.column_stack([rows @ asked, _surroundings(rows, units) @ asked, under @ asked])


def _surroundings(rows: npt.NDArray[np.float64], units: Sequence[Unit]) -> npt.NDArray[np.float64]:
    """Unit rows of the mean of each unit and its neighbors in the same passage."""
    numbers = np.array([unit.number for unit in units])
    summed = rows.copy()
    same = (numbers[1:] == numbers[:-1])[:, None]
    summed[1:] += rows[:-1] * same
    summed[:-1] += rows[1:] * same
    return np.asarray(summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-9))
