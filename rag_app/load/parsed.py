"""What a reader returns, and the builder that keeps offsets right while a text grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_app.text.normalize import normalize_with_offsets

Box = tuple[int, int, int, float, float, float, float]


class Fault(Exception):
    """A file that cannot be read: `error` is the kind, `reason` a sentence for a person."""

    def __init__(self, error: str, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What readers need to know; plain values, since they travel to the worker as JSON."""

    passwords: tuple[str, ...] = ()
    text_field: str | None = None
    max_expanded: int = 256 * 1024 * 1024
    depth: int = 3


@dataclass(frozen=True, slots=True)
class Parsed:
    """One document of a file: `part` names it inside the file ("" for the file itself), offsets are into `text`."""

    text: str
    format: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    pages: tuple[tuple[int, int, str | None], ...] = ()
    headings: tuple[tuple[int, int, str], ...] = ()
    boxes: tuple[Box, ...] = ()
    part: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """A part of a file (an attachment, a record) that could not be read."""

    part: str
    error: str
    reason: str


Result = Parsed | Failed


def normalized(parsed: Parsed) -> Parsed:
    """The same document with its text normalized, blank ends and soft hyphens gone, and every offset moved along."""
    text = parsed.text.replace("\u00ad", "") if not parsed.boxes and not parsed.headings else parsed.text
    offsets = [0, len(text)]
    for page in parsed.pages:
        offsets += page[:2]
    offsets += [heading[0] for heading in parsed.headings]
    for box in parsed.boxes:
        offsets += box[:2]
    result, moved = normalize_with_offsets(text, offsets)
    body = result.strip()
    lead = len(result) - len(result.lstrip())
    places = iter([min(max(place - lead, 0), len(body)) for place in moved[2:]])
    pages = tuple((next(places), next(places), label) for _, _, label in parsed.pages)
    headings = tuple((next(places), level, clean(title)) for _, level, title in parsed.headings)
    boxes = tuple((next(places), next(places), *box[2:]) for box in parsed.boxes)
    boxes = tuple(box for box in boxes if box[0] < box[1])
    return Parsed(body, parsed.format, parsed.metadata, pages, headings, boxes, parsed.part)


def clean(text: str) -> str:
    """One line: normalized, white space folded."""
    return " ".join(normalize_with_offsets(text, ())[0].split())


class TextBuilder:
    """A text that grows by blocks, with the headings and pages it was given on the way.

    Blocks are separated by one blank line; `block` strips its ends, so offsets never point at white space.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self.headings: list[tuple[int, int, str]] = []
        self._pages: list[tuple[int, str | None]] = []

    def block(self, text: str, *, gap: str = "\n\n") -> int:
        """Add a block after `gap`; where it starts. Blank text adds nothing."""
        text = text.replace("\u00ad", "").strip("\n").rstrip()
        if not text.strip():
            return self.length
        if self.length:
            self._add(gap)
        start = self.length
        self._add(text)
        return start

    def heading(self, level: int, title: str) -> None:
        """Add a heading as a block of its own."""
        title = clean(title.replace("\u00ad", ""))
        if title:
            self.headings.append((self.block(title), level, title))

    def page(self, label: str | None = None) -> None:
        """The next block opens a page."""
        self._pages.append((self.length + 2 if self.length else 0, label))

    def build(self, format: str, metadata: Mapping[str, Any] | None = None, part: str = "") -> Parsed:
        """The document so far."""
        starts = [min(start, self.length) for start, _ in self._pages]
        ends = [*starts[1:], self.length][: len(starts)]
        pages = tuple((start, end, label) for start, end, (_, label) in zip(starts, ends, self._pages, strict=True))
        return Parsed("".join(self._parts), format, metadata or {}, pages, tuple(self.headings), part=part)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)
