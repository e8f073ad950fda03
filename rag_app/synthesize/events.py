"""The events of a streamed draft, each a small frozen record with a `type` for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_app.types import Citation, Span

if TYPE_CHECKING:
    from rag_app.synthesize.base import Draft


@dataclass(frozen=True, slots=True)
class Token:
    """Text that is certain: appended to what came before, it is the cleaned answer so far."""

    text: str
    type: str = "token"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A claim that is complete, with its resolved markers; `span` in the cleaned answer."""

    text: str
    span: Span
    citations: tuple[int, ...] = ()
    type: str = "sentence"


@dataclass(frozen=True, slots=True)
class CitationFound:
    """A marker that was resolved to its quote."""

    citation: Citation
    type: str = "citation"


@dataclass(frozen=True, slots=True)
class Retraction:
    """What was shown no longer stands: replace it by `text`. `reason` says why."""

    text: str
    reason: str
    type: str = "retraction"


@dataclass(frozen=True, slots=True)
class Abstained:
    """There is no answer: `reason` is typed, `text` is for a person."""

    reason: str
    text: str
    type: str = "abstain"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of the model's work."""

    usage: dict[str, Any]
    type: str = "usage"


@dataclass(frozen=True, slots=True)
class DraftDone:
    """The finished draft; always the last event."""

    draft: Draft
    type: str = "done"


Event = Token | Sentence | CitationFound | Retraction | Abstained | Usage | DraftDone


def why_replaced(draft: Draft) -> str:
    """Why the finished text is not the one that was streamed."""
    if draft.abstained:
        return draft.abstention_reason or "model_declined"
    if any(citation.scope == "attributed" for citation in draft.citations):
        return "citations were added"
    return "; ".join(draft.warnings[-1:]) or "the text was tidied"
