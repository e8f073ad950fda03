"""Which sentences of a chunk support a claim: alignment by shared terms, and citations with exact quotes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from langchain_core.documents import Document

from rag_app.cite.binding import Bound
from rag_app.cite.place import place_of, start_of
from rag_app.cite.segments import segments
from rag_app.text import Analyzer
from rag_app.types import Citation, LoadedDocument, Span

_ANALYZER = Analyzer()
_DIGIT = re.compile(r"\d")
_WIDEST_WINDOW = 3
_GAIN = 0.15


def align(claim: str, chunk: Document) -> list[Span]:
    """The sentences of the chunk that support the claim, as one span in the DOCUMENT's text; [] for a blank chunk.

    The window of one to three neighboring sentences with the best coverage of the claim's terms; rare terms and
    numbers weigh more, and a wider window must gain. Ties go to the earlier sentence. Where no term is shared (another
    language), the whole chunk.
    """
    offset = start_of(chunk)
    span, _ = best_window(claim, chunk.page_content)
    return [span.shift(offset)] if span.start < span.end else []


def best_window(claim: str, text: str) -> tuple[Span, float]:
    """The best window of `text` for the claim and the share of the claim's term weight that it holds, in [0, 1]."""
    spans = quotable_units(text)
    if not spans:
        return Span(0, 0), 0.0
    language = _ANALYZER.detect(text)
    bags = [stems(text[span.start : span.end], language) for span in spans]
    wanted = stems(claim, language)
    weights = _weights(wanted, bags)
    total = sum(weights.values())
    best, best_score = Span(0, 0), 0.0
    for start in range(len(spans)):
        held: set[str] = set()
        for width in range(1, min(_WIDEST_WINDOW, len(spans) - start) + 1):
            held |= bags[start + width - 1]
            cover = sum(weights[stem] for stem in wanted & held) / total if total else 0.0
            score = cover - _GAIN * (width - 1)
            if cover and score > best_score + 1e-9:
                best, best_score = Span(spans[start].start, spans[start + width - 1].end), score
    if not best_score:
        return Span(spans[0].start, spans[-1].end), 0.0
    inside = set().union(*(bag for bag, span in zip(bags, spans, strict=True) if span.overlaps(best)))
    return best, sum(weights[stem] for stem in wanted & inside) / total


def quotable_units(text: str) -> list[Span]:
    """Sentences, list items and whole table rows: what can be quoted."""
    units: list[Span] = []
    row: tuple[int, int] | None = None
    for segment in segments(text):
        place = (segment.block, segment.row) if segment.kind == "table" else None
        if place is not None and place == row:
            units[-1] = Span(units[-1].start, segment.span.end)
        elif segment.kind == "code":
            units.extend(_code_lines(text, segment.span))
        else:
            units.append(segment.span)
        row = place
    return units


def _code_lines(text: str, span: Span) -> Iterable[Span]:
    for line in re.compile(r"[^\n]*\S[^\n]*").finditer(text, span.start, span.end):
        start = line.start() + len(line.group()) - len(line.group().lstrip())
        yield Span(start, line.start() + len(line.group().rstrip()))


def stems(text: str, language: str = "none") -> set[str]:
    """The terms of a text, stemmed in `language`: give the same for all texts that are compared."""
    return set(_ANALYZER.terms(text, language=language))


def _weights(wanted: set[str], bags: Sequence[set[str]]) -> dict[str, float]:
    frequency = Counter(stem for bag in bags for stem in bag)
    weights: dict[str, float] = {}
    for stem in wanted:
        weight = math.log(1 + (len(bags) + 1) / (frequency[stem] + 0.5))
        if _DIGIT.search(stem):
            weight *= 2
        elif len(stem) <= 3 and stem.isascii():
            # Function words; a set that names them would know one language only.
            weight *= 0.25
        weights[stem] = weight
    return weights


def resolve(
    bound: Iterable[Bound],
    evidence: Sequence[Document],
    *,
    scope: str = "cited",
) -> list[Citation]:
    """One citation for each marker of each clause, in order, each with the exact quote that supports the clause.

    `evidence[n - 1]` is what `[n]` names. Page and section are the chunk's; `locate` has those of the quote.
    """
    return [
        make_citation(number, clause.words, evidence[number - 1], scope=scope)
        for clause in bound
        for number in clause.citations
        if 1 <= number <= len(evidence)
    ]


def make_citation(number: int, claim: str, chunk: Document, *, scope: str = "cited") -> Citation:
    """The citation of one chunk for one claim."""
    place = place_of(chunk, number)
    offset = place.start
    spans = align(claim, chunk)
    span = spans[0] if spans else Span(offset, offset)
    return Citation(
        marker=number,
        chunk_id=place.chunk_id,
        source=place.source,
        page=place.page,
        section_path=place.section_path,
        span=span,
        quote=chunk.page_content[span.start - offset : span.end - offset],
        scope=scope,
    )


def locate(citation: Citation, document: LoadedDocument) -> Citation:
    """The citation with page, section and rectangles of the quote itself; a chunk knows only those of its start."""
    layout = document.layout
    return replace(
        citation,
        page=layout.page_at(citation.span.start) or citation.page,
        section_path=tuple(layout.section_path_at(citation.span.start)) or citation.section_path,
        boxes=tuple((box.page, box.x0, box.y0, box.x1, box.y1) for box in document.boxes(citation.span)),
    )


def attribute(clause: str, evidence: Sequence[Document], *, floor: float = 0.5) -> int | None:
    """The number of the chunk that supports the clause best, None when none covers `floor` of its term weight."""
    scores = [(best_window(clause, chunk.page_content)[1], -number) for number, chunk in enumerate(evidence, start=1)]
    if not scores:
        return None
    score, number = max(scores)
    return -number if score >= floor else None


__all__ = ["align", "attribute", "best_window", "make_citation", "quotable_units", "resolve", "stems"]
