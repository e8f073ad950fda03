"""The records that flow between stages; the errors and the JSON of both ways are imported from here too.

Records are frozen dataclasses with slots; pydantic guards the doors (settings, JSON that comes in). What flows between
the stages is LangChain's `Document`; the records here say what was found out about it.
"""

from __future__ import annotations

import bisect
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field

from rag_app.errors import (
    ConfigError,
    EmbeddingError,
    IndexDamagedError,
    IndexLockedError,
    IndexMismatchError,
    IndexMissingError,
    LoadError,
    MissingExtraError,
    ModelError,
    RagAppError,
    UnsupportedClaimsError,
)
from rag_app.jsonable import dumps, from_json, to_json

# ---------------------------------------------------------------------------------------------------------------- spans


class Span(NamedTuple):
    """Characters `start` to `end` (half-open) of a text; `text[span.start:span.end]` is what it holds."""

    start: int
    end: int

    def slice(self, text: str) -> str:
        return text[self.start : self.end]

    def shift(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)

    def clip(self, to: Span) -> Span:
        """What of this span lies in `to`; empty where they do not meet."""
        start = max(self.start, to.start)
        return Span(start, max(start, min(self.end, to.end)))

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


def as_span(value: Any) -> Span | None:
    """The span that metadata notes as `[start, end]`; None for anything else: a key may be a person's own."""
    if not isinstance(value, (list, tuple)) or [type(place) for place in value] != [int, int]:
        return None
    return Span(*value) if 0 <= value[0] < value[1] else None


class _Layout(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Page(_Layout):
    """One page: characters `start` to `end` of the document's text; `label` when it differs from the number."""

    start: int
    end: int
    label: str | None = None


class Heading(_Layout):
    """A heading that opens a section at character `start`; `level` counts from 1, outermost first."""

    start: int
    level: int
    title: str


def section_paths(headings: Iterable[Heading]) -> list[tuple[int, tuple[str, ...]]]:
    """`(start, section path)` for each heading, in order; a path names the headings from the outermost on."""
    open_: list[Heading] = []
    found = []
    for heading in headings:
        while open_ and open_[-1].level >= heading.level:
            open_.pop()
        open_.append(heading)
        found.append((heading.start, tuple(one.title for one in open_)))
    return found


class Box(_Layout):
    """Where characters `start` to `end` stand on page `page` (from 1): points from the page's top left corner."""

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class Layout(_Layout):
    """What the format knew about places in the text: pages, headings, rectangles. Each list is ordered by `start`."""

    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    boxes: tuple[Box, ...] = ()

    def page_at(self, offset: int) -> int | None:
        """The page (from 1) that holds the character at `offset`; None when the format has no pages."""
        if not self.pages:
            return None
        return max(1, bisect.bisect_right(self.pages, offset, key=lambda page: page.start))

    def section_path_at(self, offset: int) -> list[str]:
        """The headings above `offset`, outermost first. A heading belongs to its own section."""
        above = section_paths(self.headings[: bisect.bisect_right(self.headings, offset, key=lambda h: h.start)])
        return list(above[-1][1]) if above else []

    def boxes_at(self, span: Span) -> list[Box]:
        """The rectangles that `span` touches, in reading order; empty when the format has none."""
        return [box for box in self.boxes if box.start < span.end and span.start < box.end]


class LoadedDocument(Document):
    """A document as a loader returns it: normalized text, `id` (equal to `metadata["doc_id"]`) and the layout.

    Every offset in the package refers to `page_content` of this document.
    """

    layout: Layout = Field(default_factory=Layout, repr=False)

    def boxes(self, span: Span) -> list[Box]:
        """The rectangles of `span` on its pages (points from the top left corner); empty when the format has none."""
        return self.layout.boxes_at(Span(*span))


def make_doc_id(source: str, text: str) -> str:
    """Twelve hex digits from source and content: stable, and two files with equal text are two documents."""
    return hashlib.sha256(f"{source}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


_CHUNK_ID = re.compile(r"(?P<doc_id>.+):(?P<start>\d+)-(?P<end>\d+)", re.DOTALL)


def make_chunk_id(doc_id: str, span: Span) -> str:
    """`{doc_id}:{start}-{end}`: the same input gives the same id, and a person can read where it is."""
    return f"{doc_id}:{span.start}-{span.end}"


def read_chunk_id(chunk_id: str) -> tuple[str, Span] | None:
    """The document's id and the span that `make_chunk_id` wrote; None for an id of another make."""
    found = _CHUNK_ID.fullmatch(chunk_id)
    return None if found is None else (found["doc_id"], Span(int(found["start"]), int(found["end"])))


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """A file that did not become a document. `error` is the kind of fault, `reason` one sentence for a person."""

    source: str
    error: str
    reason: str


# -------------------------------------------------------------------------------------------------------------- ranking


@dataclass(frozen=True, slots=True)
class Hit:
    """One place in a ranking: ranks count from 1, higher scores are better, ties break by chunk id."""

    chunk_id: str
    score: float
    rank: int


# -------------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker of the answer, resolved: `quote` is the source document's text at `span`, to the character.

    `scope` is "cited" when the model set the marker and "attributed" when the package found the evidence itself.
    """

    marker: int
    chunk_id: str
    source: str
    page: int | None
    section_path: tuple[str, ...]
    span: Span
    quote: str
    scope: str = "cited"
    boxes: tuple[tuple[int, float, float, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the answer: `span` in the answer's text, `citations` the markers bound to it.

    `kind`: factual | abstention | meta | opinion | question | instruction. Only factual claims are checked.
    """

    text: str
    span: Span
    citations: tuple[int, ...] = ()
    kind: str = "factual"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that a verdict rests on: `text` is the source's text from `start` to `end`."""

    source: str
    start: int
    end: int
    text: str
    chunk_id: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One conflict check: `outcome` is pass, fail or unknown; spans are in the claim and in the source."""

    name: str
    outcome: str
    claim_value: str | None = None
    source_value: str | None = None
    claim_span: Span | None = None
    evidence_span: Span | None = None


LABELS = ("supported", "partially_supported", "contradicted", "not_found", "not_checkable")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence says of a claim: `label` is one of LABELS, `score` support in [0, 1], `level` who decided."""

    claim: Claim
    label: str
    score: float
    level: str
    evidence: tuple[Evidence, ...] = ()
    checks: tuple[Check, ...] = ()
    suggested_citations: tuple[int, ...] = ()
    reason: str | None = None
    seconds: float = 0.0


__all__ = [
    "LABELS",
    "Box",
    "Check",
    "Citation",
    "Claim",
    "ConfigError",
    "EmbeddingError",
    "Evidence",
    "Heading",
    "Hit",
    "IndexDamagedError",
    "IndexLockedError",
    "IndexMismatchError",
    "IndexMissingError",
    "Layout",
    "LoadError",
    "LoadFailure",
    "LoadedDocument",
    "MissingExtraError",
    "ModelError",
    "Page",
    "RagAppError",
    "Span",
    "UnsupportedClaimsError",
    "Verdict",
    "dumps",
    "from_json",
    "make_chunk_id",
    "make_doc_id",
    "read_chunk_id",
    "section_paths",
    "to_json",
]
