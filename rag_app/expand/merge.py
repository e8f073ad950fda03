"""Neighbors that were found together are read together."""

from __future__ import annotations

from typing import Literal

from langchain_core.documents import Document
from pydantic import Field

from rag_app.expand.base import Expander
from rag_app.types import Span


class MergeExpander(Expander):
    """Chunks of one document that overlap, touch, or lie at most `gap` characters apart become one span."""

    kind: Literal["merge"] = "merge"
    gap: int = Field(default=200, ge=0, description="Characters between two chunks that are read along.")

    def span(self, chunk: Document, text: str) -> Span:
        return Span(chunk.metadata["start_index"], chunk.metadata["end_index"])

    @property
    def joins_within(self) -> int:
        return self.gap
