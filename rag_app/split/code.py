"""Source code by its syntax: definitions whole where they fit, with what they stand in as context."""

from __future__ import annotations

import itertools
from typing import Literal

from langchain_core.documents import Document
from pydantic import Field

from rag_app.split.base import ChunkSpan, trim
from rag_app.split.code_breaks import CodeBreaks, code_breaks, used_imports
from rag_app.split.pack import Unit, pack_units
from rag_app.split.recursive import RecursiveSplitter
from rag_app.split.sized import SizedSplitter
from rag_app.types import Span


class CodeSplitter(SizedSplitter):
    """Functions and classes whole where they fit, small neighbors together, big ones cut between their members.

    A chunk's `section_path` is the chain of definitions that it stands in; they and the imports that it uses are put
    before it in `embed_text` (with `context`). The language is `language`, or the one that the loader found; the
    grammars are in the extra `docs`. Without one, LangChain's keywords, blank lines and indentation decide.
    """

    kind: Literal["code"] = "code"
    language: str | None = Field(None, description="Such as python or javascript; by default what the loader found.")
    context: bool = Field(True, description="Embed the enclosing definitions and used imports before the chunk.")

    def document_spans(self, document: Document) -> list[ChunkSpan]:
        text = document.page_content
        language = self.language or document.metadata.get("code_language")
        found = code_breaks(text, language, lambda span: self.measure(span.slice(text)) > self.most)
        units = self._units(text, found.costs)
        return [self._piece(text, span, found) for span in self._pack(text, units)]

    def _units(self, text: str, costs: dict[int, float]) -> list[Unit]:
        """The stretches between breaks; one above the most is cut at its lines, then inside them."""
        cutter = self.sharing(RecursiveSplitter(chunk_size=self.most))
        places = sorted({0, len(text), *costs})
        units: list[Unit] = []
        for start, stop in itertools.pairwise(places):
            span = trim(text, start, stop)
            if span is None:
                continue
            cost = costs.get(start, 0.0)
            if self.measure(span.slice(text)) <= self.most:
                units.append(Unit(span, cost))
                continue
            for part in cutter.spans(span.slice(text)):
                units.append(Unit(part.shift(span.start), cost))
                cost = 0.5
        return units

    def _pack(self, text: str, units: list[Unit]) -> list[Span]:
        measure = None if self.measures_characters else self.measure
        return pack_units(text, units, target=self.chunk_size, most=self.most, measure=measure)

    def _piece(self, text: str, span: Span, found: CodeBreaks) -> ChunkSpan:
        around = [signature for whole, signature in found.enclosing if whole.start < span.start < whole.end]
        lines = [*used_imports(text, found.imports, span), *around] if self.context else []
        return ChunkSpan(span, section_path=tuple(around) or None, context="\n".join(lines) or None)
