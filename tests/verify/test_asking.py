"""How a chat model is asked: once, structured, and with an end."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from openai_server import ChatServer, Step

from rag_app.verify import Verifier
from rag_app.verify.asking import limited

SOURCE = "The ferry to Skerry Island leaves twice a day."


@pytest.mark.parametrize(
    "settings",
    [{"level": "llm", "cascade": False}, {"claimify": True}, {"policy": "regenerate"}],
)
@pytest.mark.parametrize(("own", "sent"), [(None, 4096), (100, 100), (50_000, 4096)])
def test_every_call_of_the_verifier_bounds_the_reply(settings: dict[str, Any], own: int | None, sent: int) -> None:
    with ChatServer([Step("no JSON")]) as server:
        model = ChatOpenAI(base_url=server.base_url, api_key="none", model="m", max_tokens=own, max_retries=0)
        verifier = Verifier(chat_model=model, **settings)
        verifier.invoke({"text": "Pangolins in Tarnfield invented the ferry [1].", "documents": [SOURCE]})
    assert server.requests
    for request in server.requests:
        assert request.get("max_completion_tokens", request.get("max_tokens")) == sent
    assert model.max_tokens == own


def test_a_model_that_knows_no_limit_is_asked_as_it_is() -> None:
    model = FakeListChatModel(responses=["x"])
    assert limited(model, 10) is model
    assert limited(None, 10) is None


def test_the_limit_can_be_lifted() -> None:
    model = ChatOpenAI(model="m", api_key="none")
    assert limited(model, None) is model
