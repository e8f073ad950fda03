"""Small chunks are found, the passages they were cut from are read."""

from __future__ import annotations

from typing import Literal

from langchain_core.documents import Document

from rag_app.expand.base import Expander
from rag_app.types import Span, as_span


class ParentExpander(Expander):
    """Each chunk becomes its `parent` span, as the parent splitter noted it; a chunk without one stays as it is."""

    kind: Literal["parent"] = "parent"

    def span(self, chunk: Document, text: str) -> Span:
        own = Span(chunk.metadata["start_index"], chunk.metadata["end_index"])
        return as_span(chunk.metadata.get("parent")) or own
