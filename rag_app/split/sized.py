"""What splitters that aim at a size have in common."""

from __future__ import annotations

from typing import Self

from langchain_core.documents import Document
from pydantic import Field, model_validator

from rag_app.split.base import SpanSplitter
from rag_app.types import Span


class SizedSplitter(SpanSplitter):
    """Chunks aim at `chunk_size`, and none is above `most`. A subclass says how, in `document_spans`."""

    chunk_size: int = Field(1000, gt=0, description="The size that chunks aim at, in units of `length`.")
    max_size: int | None = Field(None, gt=0, description="The most a chunk holds; 1.4 times `chunk_size` by default.")

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.most < self.chunk_size:
            raise ValueError(f"max_size {self.max_size} must not be smaller than chunk_size {self.chunk_size}")
        return self

    @property
    def most(self) -> int:
        """The most a chunk holds."""
        return self.max_size if self.max_size is not None else int(1.4 * self.chunk_size)

    @property
    def target_size(self) -> int | None:
        return self.chunk_size

    def spans(self, text: str) -> list[Span]:
        return [piece.span for piece in self.document_spans(Document(page_content=text))]
