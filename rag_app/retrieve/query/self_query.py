"""What a question says about metadata becomes a filter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import BaseMessage
from pydantic import Field

from rag_app.filters import parse_filter
from rag_app.retrieve.query.base import Asked, QueryTransform, conversation
from rag_app.types import ConfigError


class SelfQuery(QueryTransform):
    """A query and a filter out of one question; the filter may only name fields that the index has.

    `fields` (name to kind of value) is the index's own when the retriever fills it.
    """

    kind: Literal["self-query"] = "self-query"
    fields: dict[str, str] | None = Field(default=None, description="Fields a filter may name; null: the index's own.")

    def messages(self, question: str, history: Sequence[BaseMessage]) -> list[BaseMessage] | None:
        if not self.fields:
            return None
        known = ", ".join(f"{name} ({kind})" for name, kind in self.fields.items())
        system = (
            'Answer with one JSON object {"query": ..., "filter": ...}. "query" is what to search for, without the '
            'conditions that "filter" holds. "filter" is null, or an object such as {"year": {"$gte": 2020}} with the '
            f"operators $eq $ne $in $nin $gt $gte $lt $lte $and $or $not, about these fields only: {known}."
        )
        return conversation(system, question, history)

    def read(self, question: str, reply: str) -> Asked | None:
        found = _json_object(reply)
        if found is None or not isinstance(found.get("query"), str):
            return None
        query, condition = found["query"].strip() or question, found.get("filter")
        if not condition:
            return Asked((query,))
        try:
            unknown = parse_filter(condition).fields() - set(self.fields or {})
        except ConfigError as error:
            return Asked((question,), warnings=(f"{self.stage}: the filter was left out: {error}",))
        if unknown:
            names = ", ".join(sorted(unknown))
            return Asked((question,), warnings=(f"{self.stage}: the filter was left out: no field {names}",))
        return Asked((query,), filter=condition)


def _json_object(text: str) -> Mapping[str, Any] | None:
    """The first JSON object of a text; None when there is none."""
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = json.JSONDecoder().raw_decode(text[start:])
        except ValueError:
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None
