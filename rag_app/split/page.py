"""One chunk for each page, for formats that have pages."""

from __future__ import annotations

import itertools
from typing import Literal

from langchain_core.documents import Document
from pydantic import Field

from rag_app.split.base import ChunkSpan, SpanSplitter, part_of, trim
from rag_app.split.structure import MarkdownSplitter
from rag_app.types import LoadedDocument, Span


class PageSplitter(SpanSplitter):
    """A page is a chunk; one above `max_size` is cut along its structure, and so is a text without pages."""

    kind: Literal["page"] = "page"
    max_size: int = Field(4000, gt=0, description="The most a chunk holds, in units of `length`.")

    def spans(self, text: str) -> list[Span]:
        return self._within(Document(page_content=text), Span(0, len(text)))

    def document_spans(self, document: Document) -> list[ChunkSpan]:
        text = document.page_content
        pages = document.layout.pages if isinstance(document, LoadedDocument) else ()
        cuts = sorted({0, len(text), *(min(page.start, len(text)) for page in pages)})
        stretches = [Span(start, stop) for start, stop in itertools.pairwise(cuts)]
        return [ChunkSpan(span) for stretch in stretches for span in self._within(document, stretch)]

    def _within(self, document: Document, stretch: Span) -> list[Span]:
        page = trim(document.page_content, *stretch)
        if page is None:
            return []
        if self.measure(page.slice(document.page_content)) <= self.max_size:
            return [page]
        size = max(1, self.max_size * 5 // 7)
        cutter = self.sharing(MarkdownSplitter(chunk_size=size, max_size=self.max_size))
        return [piece.span.shift(page.start) for piece in cutter.document_spans(part_of(document, page))]
