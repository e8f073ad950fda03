"""Which words a marker stands for: every run of markers bound to the clause on its left.

The text is segmented with its markers taken out, so that `[1]` neither starts nor ends a sentence.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from rag_app.cite.markers import Marker, ParsedText
from rag_app.cite.segments import Segment, is_question, segments
from rag_app.types import Claim, Span

_JOIN = re.compile(r"[\s,;、，；&]*(?:(?:and|und|et|y|or|oder)[\s]+)?", re.IGNORECASE)
_CLAUSE = re.compile(
    r"\s*(?:[,;:，；：、—–]|-{2,}|\(|\b(?:and|but|or|while|whereas|although|though|however|which|und|aber|oder|während|"
    r"sowie|wobei|et|mais|tandis|y|pero|mientras)\b)|\s*(?:而|但|且|并|和|以及)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"\W*(?:according to|as (?:stated|noted|described|shown|reported|mentioned|explained|specified|per)\b.*|"
    r"per|based on|in|see|"
    r"source|sources|from|both|the sources?|passages?|documents?|"
    r"laut|nach|gemäß|siehe|quelle|wie in|selon|d'après|según|根据|依据|如)?"
    r"\W*(?:the |den |der |dem |source |document |passage |chunk |section )*\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w")
_CONNECTOR = re.compile(
    r"[\s,;:.!?…，；：、—–]*(?:(?:and|but|or|while|whereas|und|aber|oder|et|mais|y|pero)\s+)?", re.IGNORECASE
)
_STOP_AFTER = re.compile(r"[.!?…]+[\"'”’»)*_]*\s+[^\W\d_a-zäöüéèà]")
_STOP_BEFORE = re.compile(r"[.!?…][\"'”’»)*_]*\s*$")
_CAPITAL = re.compile(r"\s*[\"'“‘«(*_]*[^\W\d_a-zäöüéèà]")
_STOPS = ".!?…。！？,;:*_ \t\n"


@dataclass(frozen=True, slots=True)
class Bound:
    """A clause of the cleaned text with the markers that speak for it: `text == cleaned[span]`.

    `words` is the text without markers; `kind` the kind of its block; `segment` the sentence or cell it stands in.
    """

    text: str
    span: Span
    citations: tuple[int, ...]
    kind: str
    words: str
    segment: Segment
    markers: tuple[Marker, ...] = ()


@dataclass(frozen=True, slots=True)
class _Bare:
    """The text without its runs of markers: `places[i]` is where bare character i stands in the text."""

    text: str
    places: tuple[int, ...]
    runs: tuple[tuple[int, tuple[Marker, ...]], ...]

    def original(self, span: Span) -> Span:
        return Span(self.places[span.start], self.places[span.end - 1] + 1)


def _runs(parsed: ParsedText) -> list[list[Marker]]:
    runs: list[list[Marker]] = []
    for marker in parsed.markers:
        if runs:
            between = parsed.text[runs[-1][-1].span.end : marker.span.start]
            if "\n" not in between and _JOIN.fullmatch(between):
                runs[-1].append(marker)
                continue
        runs.append([marker])
    return runs


def _bare(parsed: ParsedText) -> _Bare:
    pieces: list[str] = []
    places: list[int] = []
    runs: list[tuple[int, tuple[Marker, ...]]] = []
    position = 0
    for run in _runs(parsed):
        start, end = run[0].span.start, run[-1].span.end
        if parsed.text[start - 1 : start] == "[" and parsed.text[end : end + 1] == "]":
            start, end = start - 1, end + 1
        while start > position and parsed.text[start - 1] in " \t":
            start -= 1
        pieces.append(parsed.text[position:start])
        places.extend(range(position, start))
        runs.append((len(places), tuple(run)))
        position = end
    pieces.append(parsed.text[position:])
    places.extend(range(position, len(parsed.text)))
    return _Bare("".join(pieces), tuple(places), tuple(runs))


def bind(parsed: ParsedText) -> list[Bound]:
    """The clauses of the answer with their citations, in order; headings and questions too, code left out.

    A run binds to the text on its left, back to the previous run or the start of its sentence; after a full stop it
    belongs to the sentence before. Words after the last run are a clause of their own when a connector opens them.
    """
    bare = _bare(parsed)
    parts = [part for part in segments(bare.text) if part.kind != "code" and _WORD.search(part.span.slice(bare.text))]
    owners = _owners(bare, parts)
    bound: list[Bound] = []
    for number, part in enumerate(parts):
        bound.extend(_clauses(parsed.text, bare, part, owners.get(number, [])))
    return bound


def _owners(bare: _Bare, parts: Sequence[Segment]) -> dict[int, list[tuple[int, tuple[Marker, ...]]]]:
    """The segment that each run belongs to: the one it stands in or right after; at the head of a block the next."""
    owners: dict[int, list[tuple[int, tuple[Marker, ...]]]] = {}
    starts = [part.span.start for part in parts]
    for place, run in bare.runs if parts else ():
        before = bisect.bisect_left(starts, place)
        owner = max(before - 1, 0)
        after = parts[owner + 1] if owner + 1 < len(parts) else None
        gap = bare.text[parts[owner].span.end : place]
        if before and "\n" in gap and after and "\n" not in bare.text[place : after.span.start]:
            owner += 1
        if parts[owner].kind == "table":
            for cell in _cells_of(bare, parts, owner, place):
                owners.setdefault(cell, []).append((place, run))
        else:
            owners.setdefault(owner, []).append((place, run))
    return owners


def _cells_of(bare: _Bare, parts: Sequence[Segment], owner: int, place: int) -> list[int]:
    """The cells that a run in a table speaks for: its own; all of the row when it has a cell to itself or the head."""
    own = parts[owner]
    first, stop = owner, owner + 1
    while first > 0 and (parts[first - 1].block, parts[first - 1].row) == (own.block, own.row):
        first -= 1
    while stop < len(parts) and (parts[stop].block, parts[stop].row) == (own.block, own.row):
        stop += 1
    same_row = list(range(first, stop))
    alone = "|" in bare.text[own.span.end : place]
    is_row_head = owner == same_row[0]
    if (alone or is_row_head) and len(same_row) > 1:
        return same_row[1:]
    return [owner]


def _clauses(text: str, bare: _Bare, part: Segment, runs: Sequence[tuple[int, tuple[Marker, ...]]]) -> list[Bound]:
    """The segment cut after each run where a new clause begins."""
    cuts: list[tuple[int, list[Marker]]] = []
    start = part.span.start
    waiting: list[Marker] = []
    for place, run in runs:
        waiting = [*waiting, *run]
        inside = part.span.start < place < part.span.end and part.kind != "table"
        left = bare.text[start:place]
        rest = bare.text[place : part.span.end]
        begins = _new_clause(rest, place, runs) or _new_sentence(left, rest)
        if inside and not _LEAD_IN.fullmatch(left) and begins:
            cuts.append((place, waiting))
            start, waiting = place, []
    cuts.append((part.span.end, waiting))
    return _cut(text, bare, part, cuts)


def _new_clause(rest: str, place: int, runs: Sequence[tuple[int, tuple[Marker, ...]]]) -> bool:
    """Whether what follows a run stands for itself: a connector, then more than a few words or another run."""
    if not _CLAUSE.match(rest):
        return False
    has_more_runs = any(other > place for other, _ in runs)
    words = re.findall(r"\w+", rest)
    return has_more_runs or len(words) > 4 or bool(re.search(r"[\u3040-\u9fff]{5}", rest))


def _new_sentence(left: str, rest: str) -> bool:
    """Whether a sentence ends at a run where the segmenter saw none ("12 kg [1]. The", "12 kg. [1] The")."""
    return bool(_STOP_AFTER.match(rest)) or bool(_STOP_BEFORE.search(left) and _CAPITAL.match(rest))


def _cut(text: str, bare: _Bare, part: Segment, cuts: Sequence[tuple[int, list[Marker]]]) -> list[Bound]:
    bound: list[Bound] = []
    start = part.span.start
    # Where the last run before each cut stands.
    befores = [bisect.bisect_right(bare.runs, end, key=lambda run: run[0]) for end, _ in cuts]
    ends = [bare.runs[before - 1][0] if before else end for before, (end, _) in zip(befores, cuts, strict=True)]
    for number, (end, run) in enumerate(cuts):
        piece = bare.text[start:end]
        lead = _CONNECTOR.match(piece) if number else None
        first = start + (lead.end() if lead else 0)
        first += len(bare.text[first:end]) - len(bare.text[first:end].lstrip())
        last = first + len(bare.text[first:end].rstrip())
        start = end
        words = bare.text[first:last]
        if run and not bare.text[ends[number] : last].strip(_STOPS):
            # "... is 5 [1]." ends before its marker: the span of a claim holds no marker.
            last = first + len(bare.text[first : ends[number]].rstrip())
        if first >= last or not _WORD.search(bare.text[first:last]):
            if bound and run:
                bound[-1] = _with(bound[-1], run)
            continue
        span = bare.original(Span(first, last))
        bound.append(Bound(text[span.start : span.end], span, _distinct(run), part.kind, words, part, tuple(run)))
    return bound


def _with(bound: Bound, run: Sequence[Marker]) -> Bound:
    markers = (*bound.markers, *run)
    return Bound(bound.text, bound.span, _distinct(markers), bound.kind, bound.words, bound.segment, markers)


def _distinct(markers: Sequence[Marker]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(number for marker in markers for number in marker.numbers))


def claims(bound: Sequence[Bound]) -> list[Claim]:
    """The claims among bound clauses: headings, definitions, questions, row heads and bare lead-ins make none."""
    wide = {(b.segment.block, b.segment.row) for b in bound if b.kind == "table" and b.segment.column > 0}
    return [Claim(b.text, b.span, b.citations) for b in bound if _is_claim(b, wide)]


def _is_claim(b: Bound, wide: Container[tuple[int, int]]) -> bool:
    """Whether the clause claims something; `wide` are the rows that have more than their head."""
    if b.kind in ("heading", "definition") or is_question(b.words):
        return False
    if b.kind == "table" and b.segment.column == 0:
        return (b.segment.block, b.segment.row) not in wide
    return bool(b.citations) or not b.words.rstrip("*_ ").endswith((":", "："))


__all__ = ["Bound", "bind", "claims"]
