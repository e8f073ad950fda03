"""No expansion: the evidence stays as it was retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.documents import Document
from pydantic import Field

from rag_app.expand.base import Expander
from rag_app.trace import Ranked, trace_of


class NoExpander(Expander):
    """Hands on the chunks as they are."""

    kind: Literal["none"] = "none"
    max_characters: int = Field(default=6000, exclude=True, repr=False)

    def expand(self, documents: Sequence[Document]) -> Ranked:
        return Ranked(documents, trace_of(documents))
