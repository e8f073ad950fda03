"""`verified(chain)`: any Runnable that gives text and documents gives an Answer, checked, with no re-indexing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.base import coerce_to_runnable

from rag_app.answer import Answer
from rag_app.integrate.parser import parse_citations
from rag_app.synthesize.replies import message_text
from rag_app.types import ConfigError
from rag_app.verify import Verifier

_TEXTS = ("answer", "output", "result", "text", "content", "response", "output_text", "messages")
_DOCUMENTS = ("documents", "context", "source_documents", "evidence", "sources", "docs", "input_documents")
_QUESTIONS = ("question", "query", "input", "messages")


def verified(chain: Any, *, verifier: Verifier | None = None, attribute: bool = True) -> Runnable[Any, Answer]:
    """The chain, followed by citation and verification: markers resolved, phantoms stripped, claims judged.

    The chain yields a mapping with a text ("answer", "output", "result", ...) and documents ("context",
    "source_documents", "documents", ...), or a text alone when the documents stand in its input. ConfigError when
    either is missing. `verifier` may raise UnsupportedClaimsError; by default claims are only reported.
    """
    runnable: Runnable[Any, Any] = coerce_to_runnable(chain)
    judge = verifier if verifier is not None else Verifier()

    def check(input: Any, config: RunnableConfig) -> Answer:
        return _answer(input, runnable.invoke(input, config), judge, attribute)

    async def acheck(input: Any, config: RunnableConfig) -> Answer:
        return _answer(input, await runnable.ainvoke(input, config), judge, attribute)

    return RunnableLambda(check, acheck, name="verified")


def _answer(input: Any, output: Any, verifier: Verifier, attribute: bool) -> Answer:
    if isinstance(output, Answer):
        return output
    text = _text(output, _TEXTS)
    if text is None:
        raise ConfigError(
            f"verified() got a {type(output).__name__} without a text; give it one of {', '.join(_TEXTS[:5])}"
        )
    documents = _documents(output)
    documents = documents if documents is not None else _documents(input)
    if documents is None:
        raise ConfigError(
            "verified() found no documents in the chain's output or input; "
            f"hand them on under one of {', '.join(_DOCUMENTS[:4])}"
        )
    question = _text(input, _QUESTIONS) or ""
    return parse_citations(text, documents, question=question, verifier=verifier, attribute=attribute)


def _text(value: Any, keys: Sequence[str]) -> str | None:
    """The text of a string, of a message, or of the first of `keys` that holds one; of messages the last."""
    if isinstance(value, str | BaseMessage):
        return message_text(value)
    if isinstance(value, Mapping):
        for key in keys:
            found = value.get(key)
            if key == "messages" and isinstance(found, Sequence) and found:
                found = found[-1]
            if isinstance(found, str | BaseMessage):
                return message_text(found)
    return None


def _documents(value: Any) -> list[Document] | None:
    if isinstance(value, Mapping):
        for key in _DOCUMENTS:
            found = value.get(key)
            if (
                isinstance(found, Sequence)
                and not isinstance(found, str)
                and all(isinstance(d, Document) for d in found)
            ):
                return list(found)
    return None
