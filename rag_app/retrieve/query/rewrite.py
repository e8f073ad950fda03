"""A follow-up question becomes one that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import BaseMessage

from rag_app.retrieve.query.base import Asked, QueryTransform, conversation, lines_of

_SYSTEM = (
    "Rewrite the user's last question so that it can be understood without the conversation: put names in place of "
    "pronouns, keep every detail, add nothing. Answer with the rewritten question alone, on one line."
)


class RewriteQuery(QueryTransform):
    """The question rewritten in the light of the history; without history the model is not asked."""

    kind: Literal["rewrite"] = "rewrite"

    def messages(self, question: str, history: Sequence[BaseMessage]) -> list[BaseMessage] | None:
        return conversation(_SYSTEM, question, history) if history else None

    def read(self, question: str, reply: str) -> Asked | None:
        # Several lines are chatter around the question, and nobody can tell which line it is.
        lines = lines_of(reply, limit=2)
        return Asked((lines[0],)) if len(lines) == 1 else None
