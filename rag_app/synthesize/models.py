"""Chat models from settings, their replies, and their failures as one sentence each."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import SecretStr

from rag_app.synthesize.replies import Reply, cited_blocks, message_text, read_usage
from rag_app.types import ConfigError, ModelError, RagAppError


def build(
    model: str | None,
    *,
    base_url: str | None = None,
    api_key: SecretStr | None = None,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    timeout: float = 60.0,
    max_retries: int = 3,
    requests_per_second: float | None = None,
) -> BaseChatModel:
    """The chat model of these settings; ConfigError when there is no model, no key, or no such provider."""
    if not model:
        raise ConfigError(
            "synthesize.model is not set; name one, such as openai:gpt-4.1-mini, or take synthesize.kind=extractive"
        )
    options: dict[str, Any] = {"timeout": timeout, "max_retries": max_retries}
    options |= {"temperature": temperature} if temperature is not None else {}
    options |= {"max_tokens": max_tokens} if max_tokens is not None else {}
    if requests_per_second is not None:
        from langchain_core.rate_limiters import InMemoryRateLimiter

        options["rate_limiter"] = InMemoryRateLimiter(requests_per_second=requests_per_second)
    if base_url is not None or model.startswith(("openai:", "gpt-")):
        options["http_async_client"] = _unpooled_client()
    if base_url is not None:
        return _openai_compatible(model.removeprefix("openai:"), base_url, api_key, options)
    if api_key is not None:
        options["api_key"] = api_key.get_secret_value()
    elif (model.startswith(("openai:", "gpt-")) or ":" not in model) and not os.environ.get("OPENAI_API_KEY"):
        raise ConfigError(
            f"the model {model!r} needs an API key; set OPENAI_API_KEY, or synthesize.base_url to a server"
        )
    return _init_chat_model(model, options)


def _unpooled_client() -> Any:
    """An HTTP client that keeps no connection for the next request.

    A connection belongs to the event loop that opened it; langchain-openai's own client is one for the whole process,
    and in a second `asyncio.run` its kept connections fail with "Event loop is closed".
    """
    from openai import DefaultAsyncHttpxClient

    return DefaultAsyncHttpxClient(headers={"Connection": "close"})


def _openai_compatible(name: str, base_url: str, api_key: SecretStr | None, options: dict[str, Any]) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    # Local servers want no key, the client wants one.
    key = api_key or SecretStr(os.environ.get("OPENAI_API_KEY") or "none")
    return ChatOpenAI(model=name, base_url=base_url, api_key=key, stream_usage=True, **options)


def _init_chat_model(model: str, options: dict[str, Any]) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    try:
        built: BaseChatModel = init_chat_model(model, **options)
    except ImportError as error:
        raise ConfigError(f"the model {model!r} needs a package that is not installed: {error}") from None
    except ValueError as error:
        raise ConfigError(f"the model {model!r} cannot be made: {' '.join(str(error).split())}") from None
    return built


@contextlib.contextmanager
def failures() -> Iterator[None]:
    """A failure of the model or of the way to it as ModelError: which, what it said, what to do."""
    try:
        yield
    except RagAppError:
        raise
    except Exception as error:
        raise ModelError(explain(error)) from error


def explain(error: Exception) -> str:
    """One sentence for a failure of a chat model."""
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    said = " ".join(str(error).split())[:200]
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & {"JSONDecodeError", "APIResponseValidationError"}:
        return f"the model's server sent something that is not JSON ({said}); check synthesize.base_url"
    if "NotImplementedError" in names:
        return f"the model cannot do this ({said}); take synthesize.mode=inline"
    if status == 429 or "RateLimitError" in names:
        return f"the model's server is out of capacity or quota (429: {said}); try later, or set requests_per_second"
    if status in (401, 403):
        return f"the model's server refused the key ({status}: {said}); check the API key"
    if status == 404:
        return f"the model's server knows no such model or path (404: {said}); check synthesize.model and base_url"
    if status is not None and int(status) >= 500:
        return f"the model's server failed ({status}: {said}); try again, or look at its log"
    if status is not None:
        return f"the model's server refused the request ({status}: {said}); check the settings of synthesize"
    if names & {"APITimeoutError", "TimeoutException", "TimeoutError", "ReadTimeout"}:
        return "the model did not answer in time; raise synthesize.timeout, or try again"
    if names & {
        "APIConnectionError",
        "ConnectError",
        "ConnectionError",
        "RemoteProtocolError",
        "TransportError",
        "ReadError",
    }:
        return f"the connection to the model broke ({said}); check synthesize.base_url, or try again"
    return f"the model failed ({type(error).__name__}: {said}); try again, or another model"


def check_ended(message: BaseMessage | None) -> None:
    """ModelError when a stream stopped without saying that it was done, as it does when a connection dies."""
    metadata = message.response_metadata if message is not None else {}
    tells = metadata.get("model_provider") == "openai"
    if tells and not any(metadata.get(key) for key in ("finish_reason", "stop_reason", "status")):
        raise ModelError("the model's stream ended in the middle of the answer; try again")


def refused(message: BaseMessage | None) -> bool:
    """Whether the provider marks the message as a refusal."""
    if message is None:
        return False
    stop = message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason")
    return bool(message.additional_kwargs.get("refusal")) or stop in ("content_filter", "refusal")


def reply_of(message: BaseMessage, *, native: bool = False) -> Reply:
    """The reply of a message: its text with markers, its usage, whether it refuses or was cut."""
    text = cited_blocks(message) if native else message_text(message)
    cut = (message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason")) in (
        "length",
        "max_tokens",
    )
    warnings = ("the answer was cut at max_tokens",) if cut else ()
    return Reply(text, read_usage(message), refused(message), warnings)


def caches(model: BaseChatModel | None) -> bool:
    """Whether replies come from LangChain's cache: the model's own, or the one that is set for all."""
    own = model.cache if model is not None else None
    return get_llm_cache() is not None if own is None else own is not False


def token_counter(model: BaseChatModel | None) -> Callable[[str], int] | None:
    """A count by the model's tokenizer, where it brings one (`custom_get_token_ids`); others would be downloaded."""
    encode = model.custom_get_token_ids if model is not None else None
    return None if encode is None else lambda text: len(encode(text))


def native_messages(messages: Sequence[BaseMessage], question: str, evidence: Sequence[Document]) -> list[BaseMessage]:
    """The messages with the evidence as document blocks that the provider itself cites (Anthropic's form)."""
    blocks: list[str | dict[Any, Any]] = [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": document.page_content},
            "title": str(document.metadata.get("source") or number),
            "citations": {"enabled": True},
        }
        for number, document in enumerate(evidence, start=1)
    ]
    return [*messages[:-1], HumanMessage([*blocks, {"type": "text", "text": question}])]
