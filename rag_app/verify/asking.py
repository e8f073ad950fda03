"""One structured question to a chat model, bounded: how judges and the claimifier ask."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel

Reply = TypeVar("Reply", bound=BaseModel)
_LIMITS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""What LangChain's chat models call the longest reply."""
_LONGEST = 300


def limited(chat_model: Any, max_tokens: int | None) -> Any:
    """The model with replies of at most `max_tokens` tokens, so that one that babbles ends; a smaller limit of its own
    stays, and a model that knows no limit is as it was.
    """
    fields = getattr(type(chat_model), "model_fields", {})
    name = next((name for name in _LIMITS if name in fields), None)
    if max_tokens is None or name is None:
        return chat_model
    own = getattr(chat_model, name)
    if isinstance(own, int) and 0 < own <= max_tokens:
        return chat_model
    return chat_model.model_copy(update={name: max_tokens})


def ask(chat_model: Any, schema: type[Reply], system: str, text: str) -> Reply:
    """The model's structured reply; ValueError or the model's own error when there is none."""
    found = chat_model.with_structured_output(schema).invoke([SystemMessage(system), HumanMessage(text)])
    if found is None:
        raise ValueError("no structured reply")
    return found if isinstance(found, schema) else schema.model_validate(found)


def why(error: Exception) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {shortened(str(error))}"


def shortened(text: str) -> str:
    """A text on one line, of 300 characters at most: what a model or an error says has no end of its own."""
    said = " ".join(text.split())
    return f"{said[:_LONGEST]}{'...' if len(said) > _LONGEST else ''}"


def defused(text: str, tag: str) -> str:
    """The text without a tag that could open or close the data it is part of."""
    return re.sub(rf"(<\s*/?)\s*{tag}\b", rf"\1 {tag}", text, flags=re.IGNORECASE)
