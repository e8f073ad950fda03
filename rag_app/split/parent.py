"""Small chunks inside big ones: the small are searched, the big are read."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from langchain_core.documents import Document
from pydantic import Field

from rag_app.split.base import ChunkSpan, SpanSplitter, part_of
from rag_app.split.page import PageSplitter
from rag_app.split.recursive import RecursiveSplitter
from rag_app.split.sentence import SentenceWindowSplitter
from rag_app.split.structure import HtmlSplitter, MarkdownSplitter
from rag_app.types import Span

Part = Annotated[
    RecursiveSplitter | SentenceWindowSplitter | MarkdownSplitter | HtmlSplitter | PageSplitter,
    Field(discriminator="kind"),
]


class ParentSplitter(SpanSplitter):
    """Splits a document by `parents`, and each parent by `children`; a chunk is a child that knows its `parent` span.

    Parents need no store of their own: they are spans of the same document, so that ids, updates and deletes follow it.
    """

    kind: Literal["parent"] = "parent"
    parents: Part = Field(default_factory=lambda: MarkdownSplitter(chunk_size=2000))
    children: Part = Field(default_factory=lambda: MarkdownSplitter(chunk_size=400))

    def spans(self, text: str) -> list[Span]:
        return [piece.span for piece in self.document_spans(Document(page_content=text))]

    def document_spans(self, document: Document) -> list[ChunkSpan]:
        found: dict[Span, ChunkSpan] = {}
        for parent in self.parents.document_spans(document):
            for piece in self.children.document_spans(part_of(document, parent.span)):
                child = piece.span.shift(parent.span.start)
                # Where parents overlap a child may lie in both; the first has it.
                found.setdefault(child, ChunkSpan(child, parent=parent.span, section_path=parent.section_path))
        return sorted(found.values(), key=lambda piece: piece.span)

    @property
    def target_size(self) -> int | None:
        return self.children.target_size

    @property
    def needs_embedder(self) -> bool:
        return self.parents.needs_embedder or self.children.needs_embedder

    def bind(self, **values: Any) -> Self:
        parts = {"parents": self.parents.bind(**values), "children": self.children.bind(**values)}
        return super().bind(**values).model_copy(update=parts)
