"""Words as search terms, with their places. One analyzer serves indexing, queries and verification alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from rag_app.types import Span

_WORD = re.compile(r"\w+(?:[-._'’/]\w+)*")
_PART = re.compile(r"[^\W_]+")


class Token(NamedTuple):
    """A search term and the characters it comes from."""

    term: str
    span: Span


class Analyzer(BaseModel):
    """Turns text into terms: Unicode case folding, identifiers whole and in parts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def tokens(self, text: str) -> list[Token]:
        """The terms of `text` with their spans, in order; parts of an identifier follow the whole."""
        return list(self._tokens(text))

    def terms(self, text: str) -> list[str]:
        """The terms alone."""
        return [token.term for token in self._tokens(text)]

    def _tokens(self, text: str) -> Iterator[Token]:
        for match in _WORD.finditer(text):
            whole = match.group()
            yield Token(whole.casefold(), Span(*match.span()))
            parts = list(_PART.finditer(whole))
            if len(parts) > 1:
                for part in parts:
                    yield Token(part.group().casefold(), Span(match.start() + part.start(), match.start() + part.end()))
