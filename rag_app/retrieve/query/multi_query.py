"""One question, asked in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import BaseMessage
from pydantic import Field

from rag_app.retrieve.query.base import Asked, QueryTransform, conversation, lines_of


class MultiQuery(QueryTransform):
    """The question and up to `count` other wordings of it."""

    kind: Literal["multi-query"] = "multi-query"
    count: int = Field(default=3, ge=1, le=10, description="How many other wordings.")

    def messages(self, question: str, history: Sequence[BaseMessage]) -> list[BaseMessage] | None:
        system = (
            f"Write {self.count} search queries that ask for the same as the user's question in other words. "
            "One query a line, nothing else."
        )
        return conversation(system, question, history)

    def read(self, question: str, reply: str) -> Asked | None:
        others = [line for line in lines_of(reply, limit=self.count + 1) if line.casefold() != question.casefold()]
        return Asked((question, *others[: self.count])) if others else None
