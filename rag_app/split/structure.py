"""Chunks along a document's structure: headings, paragraphs, sentences; tables and code fences whole."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from langchain_core.documents import Document
from pydantic import Field, model_validator

from rag_app.split.base import ChunkSpan, trim
from rag_app.split.blocks import Block, find_blocks, path_over, raw_html_headings, raw_html_tables
from rag_app.split.pack import Unit, pack_units
from rag_app.split.recursive import RecursiveSplitter
from rag_app.split.sized import SizedSplitter
from rag_app.text.sentences import sentence_spans
from rag_app.types import Heading, LoadedDocument, Span, section_paths

# What a cut costs, where 1 is the price of an empty chunk (its size misses the target by all of it). A cut before a
# heading is wanted, so it has a price below zero; a cut behind one leaves a chunk that ends with a heading.
_BEFORE_HEADING = -0.6
_AFTER_HEADING = 2.0
_BETWEEN_BLOCKS, _BETWEEN_LINES, _IN_PARAGRAPH, _IN_SENTENCE = -0.5, -0.1, 0.15, 1.0
_AFTER_COLON = 0.4
_ROW_HEAD = 200
_RULE_ROW = re.compile(r"[\s|:=+-]+")


class StructureSplitter(SizedSplitter):
    """Packs whole sentences, tables and code fences into chunks of about `chunk_size`, cut along the headings.

    Sizes come out even, since the cuts of a document are chosen together and not one after the other: chunks aim at
    `chunk_size` and none is above `max_size`. A table or a fence is cut (between rows or lines) only where it is above
    `max_size` itself; the parts' `embed_text` then begins with the table's first row. Small sections share a chunk.
    """

    chunk_overlap: int = Field(0, ge=0, description="The most that a chunk repeats of the one before: whole sentences.")

    @model_validator(mode="after")
    def _overlap_fits(self) -> StructureSplitter:
        if self.chunk_overlap * 2 > self.chunk_size:
            raise ValueError(f"chunk_overlap {self.chunk_overlap} must be at most half of chunk_size {self.chunk_size}")
        return self

    def document_spans(self, document: Document) -> list[ChunkSpan]:
        text = document.page_content
        known = document.layout.headings if isinstance(document, LoadedDocument) else ()
        blocks = self.blocks(text, known or None)
        units, heads = self._units(text, blocks)
        places = [] if known else section_paths(_headings(blocks))
        return [
            ChunkSpan(span, section_path=path_over(places, span), context=_head_of(heads, span))
            for span in self._pack(text, units)
        ]

    def blocks(self, text: str, headings: Sequence[Heading] | None) -> list[Block]:
        """The blocks of the text; `headings` are those that a loader found, None to look for them."""
        return find_blocks(text, headings)

    # ----------------------------------------------------------------------------------------------------------- units

    def _units(self, text: str, blocks: Sequence[Block]) -> tuple[list[Unit], list[tuple[Span, str]]]:
        """The units of all blocks, and the first rows of tables that had to be cut (with the rest's span)."""
        units: list[Unit] = []
        heads: list[tuple[Span, str]] = []
        glue = 0.0
        for block in blocks:
            span = trim(text, *block.span)
            if span is None:
                continue
            parts = list(self._parts(text, span, block))
            if block.kind == "table" and len(parts) > 1:
                head = parts[0].span
                heads.append((Span(head.end, span.end), head.slice(text)[:_ROW_HEAD]))
            parts[0] = parts[0]._replace(cost=parts[0].cost + (glue if block.kind != "heading" or glue > 1 else 0.0))
            units += parts
            glue = 0.0
            if block.kind == "heading":
                glue = _AFTER_HEADING
            elif text[span.end - 1] in ":：":
                glue = _AFTER_COLON
        return units, heads

    def _parts(self, text: str, span: Span, block: Block) -> Iterator[Unit]:
        """The units of one block: itself, or its rows, lines or sentences."""
        first = _BEFORE_HEADING if block.kind == "heading" else _BETWEEN_BLOCKS
        if block.kind != "text" and self.measure(span.slice(text)) <= self.most:
            yield Unit(span, first, opens=block.kind == "heading")
            return
        if block.kind == "text":
            inner = [sentence.shift(span.start) for sentence in sentence_spans(span.slice(text))]
        else:
            inner = _lines(text, span)
        cutter = self.sharing(RecursiveSplitter(chunk_size=self.most))
        cost = first
        for number, sentence in enumerate(inner):
            if number:
                ends_line = "\n" in text[inner[number - 1].end : sentence.start]
                cost = _BETWEEN_LINES if ends_line else _IN_PARAGRAPH
                if block.kind == "table" and number < 3 and _RULE_ROW.fullmatch(sentence.slice(text)):
                    cost = _AFTER_HEADING
            if sentence.end - sentence.start <= self.most // 4 or self.measure(sentence.slice(text)) <= self.most:
                yield Unit(sentence, cost)
                continue
            for part in cutter.spans(sentence.slice(text)):
                yield Unit(part.shift(sentence.start), cost)
                cost = _IN_SENTENCE

    def _pack(self, text: str, units: Sequence[Unit]) -> list[Span]:
        return pack_units(
            text,
            units,
            target=self.chunk_size,
            most=self.most,
            overlap=self.chunk_overlap,
            measure=None if self.measures_characters else self.measure,
        )


class MarkdownSplitter(StructureSplitter):
    """Structure as Markdown shows it, and as our loaders write it for every format; plain prose has paragraphs."""

    kind: Literal["markdown"] = "markdown"


class HtmlSplitter(StructureSplitter):
    """The same for HTML: headings and tables that the loader found, or those of raw HTML source."""

    kind: Literal["html"] = "html"

    def blocks(self, text: str, headings: Sequence[Heading] | None) -> list[Block]:
        if headings is not None or "<" not in text:
            return find_blocks(text, headings)
        tables = raw_html_tables(text)
        known = {
            heading.start: heading
            for heading in raw_html_headings(text)
            if not any(table.start <= heading.start < table.end for table in tables)
        }
        if not tables and not known:
            return find_blocks(text)
        lower = text.lower()
        cuts = sorted({0, len(text), *known, *(place for table in tables for place in table)})
        blocks = []
        for start, stop in itertools.pairwise(cuts):
            if Span(start, stop) in tables:
                blocks.append(Block(Span(start, stop), "table"))
                continue
            if start in known:
                close = lower.find(f"</h{known[start].level}", start, stop)
                end = max(text.find(">", close, stop) + 1, close)
                blocks.append(Block(Span(start, end), "heading", known[start].level, known[start].title))
                start = end
            blocks += _paragraphs(text, Span(start, stop))
        return blocks


def _paragraphs(text: str, span: Span) -> list[Block]:
    return [Block(block.span.shift(span.start), "text") for block in find_blocks(span.slice(text), ())]


def _headings(blocks: Sequence[Block]) -> list[Heading]:
    return [Heading(start=b.span.start, level=b.level, title=b.title) for b in blocks if b.kind == "heading"]


def _lines(text: str, span: Span) -> list[Span]:
    """The lines of a block that hold something, without the space at their ends."""
    found, start = [], span.start
    while start < span.end:
        stop = text.find("\n", start, span.end)
        stop = span.end if stop < 0 else stop + 1
        line = trim(text, start, stop)
        if line is not None:
            found.append(line)
        start = stop
    return found


def _head_of(heads: Sequence[tuple[Span, str]], span: Span) -> str | None:
    """The first row of the table in which the chunk begins; None when it does not begin inside a cut table."""
    at = bisect.bisect_right(heads, span.start, key=lambda head: head[0].start)
    return heads[at - 1][1] if at and span.start < heads[at - 1][0].end else None
