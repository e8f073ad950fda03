"""The doctor's checks of the settings; those of an index are in tests/cli/test_main.py."""

from __future__ import annotations

import pytest

from rag_app.doctor import Finding, diagnose
from rag_app.settings import Settings

LLM = ["embed.kind=hashing", "synthesize.kind=llm", "synthesize.model=openai:some-model"]


def chat_model(*sets: str) -> Finding:
    """What the doctor finds about the chat model."""
    (found,) = [finding for finding in diagnose(Settings.resolve(None, [*LLM, *sets])) if finding.name == "chat model"]
    return found


def test_a_model_without_a_key_fails_and_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = chat_model()
    assert found.outcome == "fail"
    assert "OPENAI_API_KEY" in found.finding


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = chat_model("synthesize.base_url=http://127.0.0.1:9/v1")
    assert (found.outcome, found.finding) == ("ok", "openai:some-model at http://127.0.0.1:9/v1")


def test_offline_settings_are_checked_without_a_chat_model() -> None:
    findings = diagnose(Settings.resolve(None, ["embed.kind=hashing"]))
    assert all(finding.name != "chat model" for finding in findings)
    assert next(finding for finding in findings if finding.name == "embedder").outcome == "ok"
