"""A made-up answer finds real ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import BaseMessage

from rag_app.retrieve.query.base import Asked, QueryTransform, conversation

_SYSTEM = (
    "Write a short passage, three sentences at most, as it might stand in a document that answers the user's question. "
    "Answer with the passage alone."
)
_LONGEST = 1500


class HypotheticalDocument(QueryTransform):
    """The question, and a passage that might answer it, searched for side by side; the passage is never shown.

    Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels" (HyDE), ACL 2023; they search for the
    passage alone, we keep the question.
    """

    kind: Literal["hyde"] = "hyde"

    def messages(self, question: str, history: Sequence[BaseMessage]) -> list[BaseMessage] | None:
        return conversation(_SYSTEM, question, history)

    def read(self, question: str, reply: str) -> Asked | None:
        passage = " ".join(reply.split())
        return Asked((question, passage)) if 20 <= len(passage) <= _LONGEST else None
