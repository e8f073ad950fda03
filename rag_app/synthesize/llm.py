"""Answers written by a chat model, whichever LangChain knows; grounded in numbered evidence and checked in code."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig
from pydantic import Field, PrivateAttr, SecretStr, field_validator

from rag_app.cite import ParsedText, StreamParser
from rag_app.synthesize import models, replies
from rag_app.synthesize.base import Draft, Synthesizer, check_inputs, closing_events, draft_events, draft_of
from rag_app.synthesize.confidence import evidence_chance
from rag_app.synthesize.events import Event, Retraction, Token, why_replaced
from rag_app.synthesize.packing import about_tokens, pack
from rag_app.synthesize.prompt import (
    SYSTEM,
    check_prompt,
    cited_prompt,
    format_evidence,
    make_delimiter,
    without_markers,
)
from rag_app.synthesize.safety import OPEN_LINK, allow_links, quarantine
from rag_app.trace import Ranked
from rag_app.types import ModelError

_MODEL_OPTIONS = tuple(inspect.signature(models.build).parameters)
_BUILDING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request to the model: the evidence that its markers will name, as it is and as the model is shown it."""

    question: str
    evidence: Ranked
    shown: Ranked
    messages: list[BaseMessage]
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Stream:
    """What has been shown of a streamed answer."""

    parser: StreamParser
    start: float
    shown: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    held: str = ""
    message: AIMessageChunk | None = None


class LLMSynthesizer(Synthesizer):
    """Asks a chat model for an answer with citation markers, and holds it to the evidence.

    `model` is any `init_chat_model` string ("openai:gpt-4.1-mini", "ollama:llama3.2"); with `base_url` it is the name
    of a model behind an OpenAI-compatible server. A `chat_model` given at run time is used as it is.
    """

    kind: Literal["llm"] = "llm"
    model: str | None = Field(default=None, description="An init_chat_model string, or a name behind `base_url`.")
    base_url: str | None = Field(
        default=None, description="An OpenAI-compatible server: vLLM, Ollama, llama.cpp, Azure."
    )
    api_key: SecretStr | None = Field(
        default=None, description="The key; otherwise the provider's environment variable."
    )
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, description="The longest answer, in tokens.")
    timeout: float = Field(default=60.0, gt=0, description="Seconds to wait for the model.")
    max_retries: int = Field(default=3, ge=0, description="Retries with backoff on 429, 5xx and broken connections.")
    requests_per_second: float | None = Field(default=None, gt=0, description="A rate limit; null for none.")
    mode: Literal["inline", "structured", "native"] = Field(
        default="inline", description="Markers in the text, a JSON schema, or the provider's own citations."
    )
    system_prompt: str = Field(default=SYSTEM, description="Variables: {delimiter}, {abstention}.")
    evidence_tokens: int | None = Field(default=6000, ge=1, description="The budget of evidence; null for no limit.")
    near_duplicate: float = Field(default=0.9, gt=0, le=1, description="Overlap from which a passage is a duplicate.")
    threshold: float | None = Field(default=None, ge=0, le=1, description="The least confidence that is answered.")
    attribute_floor: float | None = Field(
        default=0.5, ge=0, le=1, description="Coverage from which an uncited sentence gets a citation; null for never."
    )
    withhold_instructions: bool = Field(default=True, description="Keep sentences that talk to the model from it.")
    check_links: bool = Field(default=True, description="Remove links that stand in no passage.")
    input_price: float | None = Field(default=None, ge=0, description="Price of a million input tokens.")
    output_price: float | None = Field(default=None, ge=0, description="Price of a million output tokens.")
    chat_model: BaseChatModel | None = Field(default=None, exclude=True, repr=False)
    prompt: ChatPromptTemplate | None = Field(default=None, exclude=True, repr=False)
    count_tokens: Callable[[str], int] | None = Field(default=None, exclude=True, repr=False)
    _built: tuple[dict[str, Any], BaseChatModel] | None = PrivateAttr(default=None)

    @field_validator("system_prompt")
    @classmethod
    def _is_a_template(cls, system: str) -> str:
        cited_prompt(system)
        return system

    @field_validator("prompt")
    @classmethod
    def _has_its_variables(cls, prompt: ChatPromptTemplate | None) -> ChatPromptTemplate | None:
        return None if prompt is None else check_prompt(prompt)

    def draft(self, inputs: Mapping[str, Any]) -> Draft:
        """The model's answer, held to the evidence; ModelError when the model fails."""
        prepared = self.prepare(inputs)
        if isinstance(prepared, Draft):
            return prepared
        with models.failures():
            reply = self._ask(prepared)
        return self.finish(prepared, reply)

    async def adraft(self, inputs: Mapping[str, Any]) -> Draft:
        """The same as `draft`."""
        prepared = self.prepare(inputs)
        if isinstance(prepared, Draft):
            return prepared
        with models.failures():
            reply = await self._aask(prepared)
        return self.finish(prepared, reply)

    def prepare(self, inputs: Mapping[str, Any]) -> Prepared | Draft:
        """The request to the model, or the abstention that needs no model."""
        question = inputs["question"]
        count = self.count_tokens or models.token_counter(self.chat_model) or about_tokens
        packed = pack(
            inputs["evidence"], budget=self.evidence_tokens, count_tokens=count, near_duplicate=self.near_duplicate
        )
        if not packed:
            return self.abstain(question, "budget", trace=packed.trace)
        shown = packed
        warnings: tuple[str, ...] = ()
        if self.withhold_instructions:
            safe = quarantine(packed)
            shown, warnings = Ranked(safe.evidence, packed.trace), safe.warnings
        delimiter = make_delimiter(question, shown, repeatable=models.caches(self.chat_model))
        prompt = self.prompt or cited_prompt(self.system_prompt)
        values = {
            "question": question,
            "evidence": format_evidence(shown, delimiter),
            "delimiter": delimiter,
            "abstention": self.abstention_text,
            "history": without_markers(inputs.get("history") or ()),
        }
        wanted = set(prompt.input_variables) | set(prompt.optional_variables)
        messages = prompt.format_messages(**{key: value for key, value in values.items() if key in wanted})
        return Prepared(question, packed, shown, messages, tuple(warnings))

    def finish(self, prepared: Prepared, reply: replies.Reply) -> Draft:
        """The draft of the model's reply: links checked, markers resolved, declining told from answering."""
        usage = replies.with_cost(reply.usage, self.input_price, self.output_price)
        warnings = (*prepared.warnings, *reply.warnings)
        evidence, chance = tuple(prepared.evidence), evidence_chance(prepared.question, prepared.evidence)
        more: dict[str, Any] = {"usage": usage, "trace": prepared.evidence.trace, "confidence": chance, "written": True}
        if reply.refusal or not reply.text.strip():
            note = "the model refused" if reply.refusal else "the model returned an empty reply"
            return self.abstain(
                prepared.question, "model_declined", warnings=(*warnings, note), evidence=evidence, **more
            )
        text, links = self._checked(reply.text, prepared)
        if links:
            warnings = (*warnings, f"links that stand in no passage were removed: {', '.join(links)}")
        draft = draft_of(
            prepared.question,
            text,
            evidence,
            attribute_uncited=self.attribute_floor,
            warnings=warnings,
            **more,
        )
        if not replies.says_something(draft.text, len(evidence)):
            notes = (*draft.warnings, "the model wrote markers and no words")
            nothing = self.abstain(draft.question, "model_declined", warnings=notes, evidence=evidence, **more)
            return replace(nothing, phantoms=draft.phantoms)
        if not draft.citations and replies.declines(draft.text, self.abstention_text):
            return replace(draft, abstained=True, abstention_reason="model_declined")
        return self.settle(draft)

    def stream_draft(self, inputs: dict[str, Any], config: RunnableConfig | None = None) -> Iterator[Event]:
        """The answer while it is written. When the stream dies, what was shown is retracted and ModelError raised."""
        start = time.perf_counter()
        check_inputs(inputs)
        missing = self.without_evidence(inputs)
        prepared = missing if missing is not None else self.prepare(inputs)
        if isinstance(prepared, Draft) or self.mode != "inline":
            yield from draft_events(self.invoke(inputs, config))
            return
        state = _Stream(StreamParser(len(prepared.evidence)), start)
        try:
            with models.failures():
                for chunk in self.language_model().stream(prepared.messages, config):
                    yield from self._fed(state, chunk, prepared)
                models.check_ended(state.message)
        except ModelError as error:
            yield Retraction("", str(error))
            raise
        yield from self._ended(state, prepared)

    async def astream_draft(self, inputs: dict[str, Any], config: RunnableConfig | None = None) -> AsyncIterator[Event]:
        """The same as `stream_draft`."""
        start = time.perf_counter()
        check_inputs(inputs)
        missing = self.without_evidence(inputs)
        prepared = missing if missing is not None else self.prepare(inputs)
        if isinstance(prepared, Draft) or self.mode != "inline":
            for event in draft_events(await self.ainvoke(inputs, config)):
                yield event
            return
        state = _Stream(StreamParser(len(prepared.evidence)), start)
        try:
            with models.failures():
                async for chunk in self.language_model().astream(prepared.messages, config):
                    for event in self._fed(state, chunk, prepared):
                        yield event
                models.check_ended(state.message)
        except ModelError as error:
            yield Retraction("", str(error))
            raise
        for event in self._ended(state, prepared):
            yield event

    def _fed(self, state: _Stream, chunk: Any, prepared: Prepared) -> Iterator[Event]:
        if isinstance(chunk, AIMessageChunk):
            state.message = chunk if state.message is None else state.message + chunk
        piece = replies.message_text(chunk)
        if not piece:
            return
        state.raw.append(piece)
        yield from self._shown(state, state.parser.feed(piece), prepared, last=False)

    def _shown(self, state: _Stream, news: ParsedText, prepared: Prepared, *, last: bool) -> Iterator[Event]:
        """Certain text, let go at white space so that a link is whole when it is checked."""
        text = state.held + news.text
        cut = len(text)
        if self.check_links and not last and (open_link := OPEN_LINK.search(text)):
            cut = open_link.start()
        state.held = text[cut:]
        text, _ = self._checked(text[:cut], prepared)
        if text:
            state.shown.append(text)
            yield Token(text)

    def _ended(self, state: _Stream, prepared: Prepared) -> Iterator[Event]:
        yield from self._shown(state, state.parser.close(), prepared, last=True)
        said = "".join(state.raw)
        reply = replies.Reply(said) if state.message is None else replace(models.reply_of(state.message), text=said)
        draft = replace(self.finish(prepared, reply), seconds=time.perf_counter() - state.start)
        shown = "".join(state.shown)
        if shown and not draft.abstained and draft.text != shown and draft.text.startswith(shown):
            yield Token(draft.text[len(shown) :])
        elif draft.text != shown and (shown or not draft.abstained):
            yield Retraction(draft.text, why_replaced(draft))
        yield from closing_events(draft)

    def _checked(self, text: str, prepared: Prepared) -> tuple[str, list[str]]:
        return allow_links(text, prepared.shown, prepared.question) if self.check_links else (text, [])

    def _ask(self, prepared: Prepared) -> replies.Reply:
        model = self.language_model()
        if self.mode == "structured":
            found = model.with_structured_output(replies.SentenceReply, include_raw=True).invoke(prepared.messages)
            return replies.structured_text(found, self.abstention_text)
        return models.reply_of(model.invoke(self._messages(prepared)), native=self.mode == "native")

    async def _aask(self, prepared: Prepared) -> replies.Reply:
        model = self.language_model()
        if self.mode == "structured":
            found = await model.with_structured_output(replies.SentenceReply, include_raw=True).ainvoke(
                prepared.messages
            )
            return replies.structured_text(found, self.abstention_text)
        return models.reply_of(await model.ainvoke(self._messages(prepared)), native=self.mode == "native")

    def _messages(self, prepared: Prepared) -> list[BaseMessage]:
        if self.mode != "native":
            return prepared.messages
        return models.native_messages(prepared.messages, prepared.question, prepared.shown)

    def language_model(self) -> BaseChatModel:
        """The model that is asked: the one given, else the one of the settings, made once; ConfigError without one."""
        if self.chat_model is not None:
            return self.chat_model
        options = {name: getattr(self, name) for name in _MODEL_OPTIONS}
        with _BUILDING:
            # A model made for each call would count each call's rate by itself.
            if self._built is None or self._built[0] != options:
                self._built = (options, models.build(**options))
            return self._built[1]


__all__ = ["LLMSynthesizer", "Prepared"]
