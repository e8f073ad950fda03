"""What a chat model's endpoint, or a setting, can do wrong: every failure is told in one sentence."""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any

import pytest
from asking import QUESTION, ask, make
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from pydantic import ValidationError

from rag_app.synthesize import LLMSynthesizer
from rag_app.types import ConfigError, ModelError


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"status": 429}, "429"),
        ({"status": 500}, "500"),
        ({"status": 401}, "key"),
        ({"status": 404}, "404"),
        ({"fault": "broken_json"}, "JSON"),
        ({"seconds": 1.0}, "in time"),
    ],
)
def test_a_failure_of_the_endpoint_is_one_clear_sentence(
    server: Any, openai: ModuleType, evidence: Any, step: dict[str, Any], words: str
) -> None:
    server.script = [openai.Step(**step)]
    with pytest.raises(ModelError, match=words):
        ask(make(server, timeout=0.4), evidence)


def test_a_failure_that_passes_is_retried(server: Any, openai: ModuleType, evidence: Any) -> None:
    server.script = [openai.Step(status=500), openai.Step("It weighs 12 kg [1].")]
    assert ask(make(server, max_retries=1), evidence).text == "It weighs 12 kg [1]."


def test_a_server_that_is_not_there_is_named(evidence: Any) -> None:
    synthesizer = LLMSynthesizer(model="fake", base_url="http://127.0.0.1:9/v1", max_retries=0, timeout=2)
    with pytest.raises(ModelError, match="base_url"):
        ask(synthesizer, evidence)


@pytest.mark.parametrize(("fault", "note"), [("empty", "empty"), ("refusal", "refused")])
def test_an_empty_reply_and_a_refusal_abstain(
    server: Any, openai: ModuleType, evidence: Any, fault: str, note: str
) -> None:
    server.script = [openai.Step(fault=fault)]
    draft = ask(make(server), evidence)
    assert draft.abstained
    assert draft.abstention_reason == "model_declined"
    assert any(note in warning for warning in draft.warnings)


@pytest.mark.parametrize(("reply", "phantoms"), [("[7]", ("7",)), ("[1]", ()), ("\n[1].\n\n[2][9]", ("9",))])
def test_markers_without_words_are_no_answer(
    server: Any, openai: ModuleType, evidence: Any, reply: str, phantoms: tuple[str, ...]
) -> None:
    server.script = [openai.Step(reply)]
    draft = ask(make(server), evidence)
    assert (draft.abstained, draft.abstention_reason, draft.citations) == (True, "model_declined", ())
    assert draft.phantoms == phantoms
    assert draft.text
    last: Any = list(make(server).stream_draft({"question": QUESTION, "evidence": evidence}))[-1]
    streamed = last.draft
    assert (streamed.text, streamed.abstained, streamed.phantoms) == (draft.text, True, phantoms)


@pytest.mark.parametrize(
    "reply",
    [
        "I don't have enough information to answer this question.",
        "The passages do not mention the price.",
        "Es liegen keine Informationen dazu vor.",
    ],
)
def test_a_model_that_declines_is_an_abstention(server: Any, openai: ModuleType, evidence: Any, reply: str) -> None:
    server.script = [openai.Step(reply)]
    draft = ask(make(server), evidence)
    assert draft.abstained
    assert draft.abstention_reason == "model_declined"


def test_a_prompt_of_ones_own_is_checked_for_its_variables() -> None:
    with pytest.raises((ConfigError, ValidationError), match="evidence"):
        LLMSynthesizer(prompt=ChatPromptTemplate.from_messages([("human", "{question}")]))
    with pytest.raises((ConfigError, ValidationError), match="other"):
        LLMSynthesizer(prompt=ChatPromptTemplate.from_messages([("human", "{question} {evidence} {other}")]))


def test_a_missing_model_or_key_is_a_configuration_error(evidence: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"synthesize\.model"):
        ask(LLMSynthesizer(), evidence)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        ask(LLMSynthesizer(model="openai:gpt-4.1-mini"), evidence)


def test_a_rate_limit_holds_over_all_calls(server: Any, openai: ModuleType, evidence: Any) -> None:
    synthesizer = make(server, requests_per_second=4.0)
    start = time.perf_counter()
    for _ in range(3):
        ask(synthesizer, evidence)
    assert time.perf_counter() - start >= 2 / 4.0
    assert synthesizer.language_model() is synthesizer.model_copy().language_model()
    assert synthesizer.language_model() is not synthesizer.model_copy(update={"max_tokens": 9}).language_model()


@pytest.mark.parametrize("system", ["Use {json: 1}", "Answer like {this}", "x {"])
def test_a_system_prompt_of_ones_own_is_checked_when_it_is_set(system: str) -> None:
    from rag_app.settings import Settings

    with pytest.raises(ConfigError, match=r"synthesize.*prompt"):
        Settings.resolve(None, ["synthesize.kind=llm", f"synthesize.system_prompt='{system}'"])
    assert LLMSynthesizer(system_prompt="Use {{json: 1}}.")


@pytest.mark.parametrize("history", ["hello", {"a": 1}, [3], 5, [{"role": "nobody", "content": "x"}]])
def test_a_history_that_is_no_conversation_is_a_configuration_error(evidence: Any, history: Any) -> None:
    synthesizer = LLMSynthesizer(chat_model=FakeListChatModel(responses=["x"]))
    with pytest.raises(ConfigError, match="history"):
        ask(synthesizer, evidence, history=history)


def test_a_model_without_structured_output_is_told_so(evidence: Any) -> None:
    with pytest.raises(ModelError, match="mode=inline"):
        ask(LLMSynthesizer(chat_model=FakeListChatModel(responses=["x"]), mode="structured"), evidence)
