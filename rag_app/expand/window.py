"""A sentence is found, its neighbors are read with it."""

from __future__ import annotations

from typing import Literal

from langchain_core.documents import Document
from pydantic import Field

from rag_app.expand.base import Expander
from rag_app.text import sentence_spans
from rag_app.types import Span, as_span


class WindowExpander(Expander):
    """Each chunk grows by `sentences` whole sentences on either side, or to the `window` that its splitter noted."""

    kind: Literal["window"] = "window"
    sentences: int = Field(default=2, ge=0, description="How many sentences are added on either side.")

    def span(self, chunk: Document, text: str) -> Span:
        noted = as_span(chunk.metadata.get("window"))
        if noted is not None:
            return noted
        own = Span(chunk.metadata["start_index"], chunk.metadata["end_index"])
        # Only the neighborhood is cut into sentences: a book need not be read for one chunk.
        reach = self.max_characters
        low, high = max(0, own.start - reach), min(len(text), own.end + reach)
        spans = [span.shift(low) for span in sentence_spans(text[low:high])]
        touched = [place for place, span in enumerate(spans) if span.overlaps(own)]
        if not touched:
            return own
        first, last = max(0, touched[0] - self.sentences), min(len(spans) - 1, touched[-1] + self.sentences)
        return Span(min(own.start, spans[first].start), max(own.end, spans[last].end))
