"""What query transforms share: a chat model is asked once, and the plain question is always the way back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict, Field

from rag_app.types import ConfigError

_LONGEST = 400  # characters of a query; a model that writes more has not written a query
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\(?\d{1,2}[.):]\s*|(?:Q|Query|Question)\s*\d*\s*:\s*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What to search for: one or more queries, a filter if the question held one, and what went wrong if anything."""

    queries: tuple[str, ...]
    filter: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()


class QueryTransform(RunnableSerializable[Any, Asked]):
    """Turns a question into what is searched for.

    Input: the question, or `{"question": ..., "history": [messages]}`. A model that fails, or answers with nothing that
    can be used, leaves the plain question and a warning.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    name: str | None = Field(default=None, exclude=True, repr=False)
    chat_model: Any = Field(default=None, exclude=True, repr=False)

    def messages(self, question: str, history: Sequence[BaseMessage]) -> list[BaseMessage] | None:
        """What the model is asked; None when it need not be asked."""
        raise NotImplementedError

    def read(self, question: str, reply: str) -> Asked | None:
        """The model's reply as queries; None when it cannot be used."""
        raise NotImplementedError

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Asked:
        question, asked = self._prepare(input)
        if asked is None:
            return Asked((question,))
        try:
            reply = self._model.invoke(asked, config)
        except ConfigError:
            raise
        except Exception as error:
            return self._plain(question, f"the model failed ({type(error).__name__}: {error})")
        return self._used(question, reply)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Asked:
        question, asked = self._prepare(input)
        if asked is None:
            return Asked((question,))
        try:
            reply = await self._model.ainvoke(asked, config)
        except ConfigError:
            raise
        except Exception as error:
            return self._plain(question, f"the model failed ({type(error).__name__}: {error})")
        return self._used(question, reply)

    @property
    def _model(self) -> Any:
        if self.chat_model is None:
            raise ConfigError(f"{self.stage}: no chat model; set `synthesize.model`, or give one with `chat_model=`")
        return self.chat_model

    @property
    def stage(self) -> str:
        """The transform's name in traces and messages."""
        return str(getattr(self, "kind", type(self).__name__))

    def _prepare(self, input: Any) -> tuple[str, list[BaseMessage] | None]:
        if isinstance(input, Mapping):
            question, history = str(input["question"]), list(input.get("history") or ())
        else:
            question, history = str(input), []
        return question, self.messages(question, history) if question.strip() else None

    def _used(self, question: str, reply: Any) -> Asked:
        text = reply.text if isinstance(reply, BaseMessage) else str(reply)
        read = self.read(question, str(text))
        return read if read is not None else self._plain(question, "its reply could not be used")

    def _plain(self, question: str, why: str) -> Asked:
        return Asked((question,), warnings=(f"{self.stage}: {why}; the plain question was searched for",))


def conversation(system: str, question: str, history: Sequence[BaseMessage] = ()) -> list[BaseMessage]:
    """System text, then history and question as data: no text of theirs is parsed as a template."""
    past = [f"{message.type}: {message.text}" for message in history]
    shown = "\n".join(["Conversation so far:", *past, "", f"Question: {question}"]) if past else question
    return [SystemMessage(system), HumanMessage(shown)]


def lines_of(reply: str, *, limit: int) -> list[str]:
    """The queries of a reply, one a line: bullets, numbers and quotes taken off, repetitions and chatter left out."""
    found: dict[str, str] = {}
    for line in reply.splitlines():
        text = _BULLET.sub("", line).strip().strip("\"'“”„«»").strip()
        if 1 < len(text) <= _LONGEST and not text.endswith(":") and any(c.isalnum() for c in text):
            found.setdefault(text.casefold(), text)
    return list(found.values())[:limit]
