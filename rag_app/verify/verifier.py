"""The verifier: a Runnable from a draft (or text) and its evidence to a report, and claim by claim by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict

from rag_app.types import Claim, Span, Verdict
from rag_app.verify.lexical import Thresholds, indexed, verify_lexical
from rag_app.verify.source import IndexedSource

Level = Literal["lexical", "entailment", "llm"]


class Verifier(RunnableSerializable[dict[str, Any], Any]):
    """Checks claims against sources. `level` is the highest level that may be asked."""

    model_config = ConfigDict(extra="forbid")

    level: Level = "lexical"
    supported_threshold: float | None = None
    partial_threshold: float | None = None

    def verify_claim(self, claim: str | Claim, sources: Sequence[str | Document]) -> Verdict:
        """The verdict on one claim. Evidence spans refer to each source's text as given."""
        if isinstance(claim, str):
            claim = Claim(claim, Span(0, len(claim)))
        return verify_lexical(claim, [as_source(s, n) for n, s in enumerate(sources)], self.thresholds)

    @property
    def thresholds(self) -> Thresholds:
        """The settings' thresholds, where they are given, over the measured ones."""
        default = Thresholds.default()
        return Thresholds(
            default.supported if self.supported_threshold is None else self.supported_threshold,
            default.partial if self.partial_threshold is None else self.partial_threshold,
        )

    def invoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        raise NotImplementedError


def as_source(source: str | Document, number: int) -> IndexedSource:
    """A source text or document, indexed; a bare text is named by its number, from 1."""
    if isinstance(source, str):
        return indexed(source, str(number + 1))
    return indexed(source.page_content, str(source.metadata.get("source", number + 1)))
