"""A chat model's answer while it streams over a real HTTP endpoint: nothing is shown that must not be."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar

import pytest
from asking import QUESTION, ask, make
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableConfig

from rag_app.synthesize import LLMSynthesizer
from rag_app.synthesize.base import Abstained, CitationFound, DraftDone, Retraction, Sentence, Token, Usage
from rag_app.types import ModelError


def _events(synthesizer: LLMSynthesizer, evidence: Any) -> list[Any]:
    return list(synthesizer.stream_draft({"question": QUESTION, "evidence": evidence}))


def test_a_stream_shows_no_half_marker_and_no_phantom(server: Any, openai: ModuleType, evidence: Any) -> None:
    reply = "The MX-400 weighs 12 kg [1]. It is blue [7]. It starts 40 times an hour [1, 9]."
    server.script = [openai.Step(reply, pieces=list(reply))]
    events = _events(make(server), evidence)
    shown = ""
    for event in events:
        if isinstance(event, Token):
            shown += event.text
            assert shown.count("[") == shown.count("]")
            assert "7" not in shown
            assert "9" not in shown
    done = events[-1]
    assert isinstance(done, DraftDone)
    assert shown == done.draft.text == "The MX-400 weighs 12 kg [1]. It is blue. It starts 40 times an hour [1]."
    assert [event.citations for event in events if isinstance(event, Sentence)] == [(1,), (), (1,)]
    assert sum(isinstance(event, CitationFound) for event in events) == 2
    assert done.draft.usage["output_tokens"] == 20


async def test_the_asynchronous_stream_ends_in_the_same_draft(server: Any, openai: ModuleType, evidence: Any) -> None:
    server.script = [openai.Step("It weighs 12 kg [1]. [8]")]
    synthesizer = make(server)
    streamed = [event async for event in synthesizer.astream_draft({"question": QUESTION, "evidence": evidence})]
    waited = await synthesizer.ainvoke({"question": QUESTION, "evidence": evidence})
    assert streamed[-1].draft.text == waited.text == "It weighs 12 kg [1]."
    assert streamed[-1].draft.citations == waited.citations


def collect(stream: Iterator[Any], events: list[Any]) -> None:
    """Keep the events that came before a failure."""
    for event in stream:
        events.append(event)  # noqa: PERF402


def test_a_stream_that_dies_retracts_what_was_shown_and_says_why(
    server: Any, openai: ModuleType, evidence: Any
) -> None:
    server.script = [openai.Step("The MX-400 weighs 12 kg [1]. And more to come.", fault="dying_stream")]
    events: list[Any] = []
    stream = make(server).stream_draft({"question": QUESTION, "evidence": evidence})
    with pytest.raises(ModelError, match="middle"):
        collect(stream, events)
    assert any(isinstance(event, Token) for event in events)
    assert isinstance(events[-1], Retraction)
    assert events[-1].text == ""


def test_a_link_that_is_not_allowed_is_not_shown_while_streaming(
    server: Any, openai: ModuleType, evidence: Any
) -> None:
    reply = "It weighs 12 kg [1]. See [the site](https://evil.test/?q=1) or https://evil.test/x now."
    server.script = [openai.Step(reply, pieces=list(reply))]
    shown = "".join(event.text for event in _events(make(server), evidence) if isinstance(event, Token))
    assert "evil" not in shown


def test_a_streamed_refusal_ends_in_an_abstention(server: Any, openai: ModuleType, evidence: Any) -> None:
    server.script = [openai.Step("I cannot", fault="refusal")]
    events = _events(make(server), evidence)
    assert any(isinstance(event, Abstained) and event.reason == "model_declined" for event in events)


def test_a_stream_tells_what_a_whole_answer_tells(server: Any, openai: ModuleType, evidence: Any) -> None:
    server.script = [openai.Step("It weighs 12 kg [1].", finish="length")]
    synthesizer = make(server)
    whole, streamed = ask(synthesizer, evidence), _events(synthesizer, evidence)[-1]
    assert isinstance(streamed, DraftDone)
    assert whole.warnings == streamed.draft.warnings == ("the answer was cut at max_tokens",)
    assert streamed.draft.seconds > 0


def test_text_that_was_shown_before_a_refusal_is_retracted(server: Any, openai: ModuleType, evidence: Any) -> None:
    server.script = [openai.Step("It weighs 12 kg [1]. And I", fault="refusal")]
    events = _events(make(server), evidence)
    assert any(isinstance(event, Token) for event in events)
    done = events[-1]
    assert isinstance(done, DraftDone)
    assert done.draft.abstained
    assert [event.text for event in events if isinstance(event, Retraction)] == [done.draft.text]


def test_the_usage_is_an_event_in_every_mode(server: Any, openai: ModuleType, evidence: Any) -> None:
    server.script = [openai.Step('{"answerable": true, "sentences": [{"text": "12 kg.", "citations": [1]}]}')]
    for mode in ("inline", "structured"):
        events = _events(make(server, mode=mode), evidence)
        assert [event.usage["output_tokens"] for event in events if isinstance(event, Usage)] == [20], mode


async def test_a_callback_hears_of_the_model_while_it_streams(evidence: Any) -> None:
    class Ear(BaseCallbackHandler):
        heard: ClassVar[list[str]] = []

        def on_chat_model_start(self, *_: Any, **__: Any) -> None:
            self.heard.append("model")

    synthesizer = LLMSynthesizer(chat_model=FakeListChatModel(responses=["It weighs 12 kg [1]."]))
    inputs, config = {"question": QUESTION, "evidence": evidence}, RunnableConfig(callbacks=[Ear()])
    list(synthesizer.stream_draft(inputs, config))
    async for _ in synthesizer.astream_draft(inputs, config):
        pass
    assert Ear.heard == ["model", "model"]
