"""A question of several parts is asked part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import BaseMessage
from pydantic import Field

from rag_app.retrieve.query.base import Asked, QueryTransform, conversation, lines_of


class DecomposeQuery(QueryTransform):
    """The question and up to `count` simpler ones whose answers make up its answer."""

    kind: Literal["decompose"] = "decompose"
    count: int = Field(default=4, ge=1, le=10, description="How many parts at most.")

    def messages(self, question: str, history: Sequence[BaseMessage]) -> list[BaseMessage] | None:
        system = (
            f"Split the user's question into at most {self.count} simple questions, each of which can be looked up by "
            "itself. If it is simple already, repeat it. One question a line, nothing else."
        )
        return conversation(system, question, history)

    def read(self, question: str, reply: str) -> Asked | None:
        parts = [part for part in lines_of(reply, limit=self.count) if part.casefold() != question.casefold()]
        simple = bool(lines_of(reply, limit=1)) and not parts
        return Asked((question, *parts)) if parts or simple else None
