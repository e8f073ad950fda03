"""Small chunks of whole sentences, each with a window: the bigger span around it that an answer is given."""

from __future__ import annotations

from typing import Literal

from langchain_core.documents import Document
from pydantic import Field

from rag_app.split.atoms import sentence_atoms
from rag_app.split.base import ChunkSpan, SpanSplitter
from rag_app.types import Span


class SentenceWindowSplitter(SpanSplitter):
    """One chunk for every `sentences` sentences; its `window` reaches `window` sentences to both sides.

    Searching small chunks finds the place, reading the window gives the context: `expand` turns a chunk into its
    window. A sentence above `max_size` is cut where it costs least.
    """

    kind: Literal["sentence"] = "sentence"
    sentences: int = Field(1, ge=1, description="Sentences in a chunk.")
    window: int = Field(3, ge=0, description="Sentences that the window has before and after the chunk.")
    max_size: int = Field(1000, gt=0, description="The most a chunk holds, in units of `length`.")

    def spans(self, text: str) -> list[Span]:
        return [span for span, _, _ in self._groups(text, sentence_atoms(self, text, self.max_size))]

    def document_spans(self, document: Document) -> list[ChunkSpan]:
        text = document.page_content
        atoms = sentence_atoms(self, text, self.max_size)
        found = []
        for span, first, last in self._groups(text, atoms):
            before, after = atoms[max(0, first - self.window)], atoms[min(len(atoms) - 1, last + self.window)]
            found.append(ChunkSpan(span, window=Span(before.start, after.end)))
        return found

    def _groups(self, text: str, atoms: list[Span]) -> list[tuple[Span, int, int]]:
        """Each chunk with the indices of its first and last sentence."""
        found: list[tuple[Span, int, int]] = []
        first = 0
        while first < len(atoms):
            last = min(first + self.sentences, len(atoms)) - 1
            while last > first and self.measure(text[atoms[first].start : atoms[last].end]) > self.max_size:
                last -= 1
            found.append((Span(atoms[first].start, atoms[last].end), first, last))
            first = last + 1
        return found
