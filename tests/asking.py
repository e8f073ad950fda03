"""A chat-model synthesizer over a test server, and a question to it."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document

from rag_app.synthesize import LLMSynthesizer

QUESTION = "How heavy is the MX-400?"


def make(server: Any, **settings: Any) -> LLMSynthesizer:
    return LLMSynthesizer(model="fake", base_url=server.base_url, **{"max_retries": 0, "timeout": 30, **settings})


def ask(synthesizer: LLMSynthesizer, evidence: list[Document], question: str = QUESTION, **more: Any) -> Any:
    return synthesizer.invoke({"question": question, "evidence": evidence, **more})
