"""Embeddings of OpenAI, or of any server that speaks its interface, through langchain-openai."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, PrivateAttr, SecretStr

from rag_app.embed.base import Embedder, Matrix
from rag_app.embed.retry import with_retry
from rag_app.types import ConfigError

_QUEUE = threading.Lock()
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAIEmbedder(Embedder):
    """`text-embedding-3-small` and its kin; `dimensions` lets the server cut them, `base_url` names another server.

    The key comes from `api_key` or the environment (OPENAI_API_KEY). A failed batch is tried again after 1, 2, 4 s;
    `requests_per_minute` spaces requests out evenly.
    """

    kind: Literal["openai"] = "openai"
    model: str = "text-embedding-3-small"
    dimensions: int | None = Field(default=None, ge=8)
    base_url: str | None = None
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    batch_size: int = 128
    max_concurrency: int = Field(default=4, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    timeout: float = 60.0

    retry_waits: ClassVar[tuple[float, ...]] = (1.0, 2.0, 4.0)
    _client: Any = PrivateAttr(default=None)
    _found: int | None = PrivateAttr(default=None)
    _next: float = PrivateAttr(default=0.0)

    @property
    def name(self) -> str:
        """The setting `model`."""
        return self.model

    @property
    def dimension(self) -> int:
        """The setting, else the model's known one, else what the server sends."""
        known = self.dimensions or _DIMENSIONS.get(self.model) or self._found
        if known is None:
            client = self._embeddings()
            known = self._found = len(with_retry(lambda: client.embed_query("dimension"), self.retry_waits))
        return known

    @property
    def max_tokens(self) -> int | None:
        """8191 for OpenAI's own models; unknown for others."""
        return 8191 if self.model in _DIMENSIONS else None

    def _embeddings(self) -> Any:
        if self._client is None:
            from langchain_openai import OpenAIEmbeddings

            options: dict[str, Any] = {"model": self.model, "timeout": self.timeout, "max_retries": 0}
            if self.dimensions:
                options["dimensions"] = self.dimensions
            if self.base_url:
                options["base_url"] = self.base_url
            if self.api_key:
                options["api_key"] = self.api_key
            try:
                # Lengths are checked by our own warning; this option would fetch a tokenizer over the network.
                self._client = OpenAIEmbeddings(**options, check_embedding_ctx_length=False)
            except Exception as error:
                if "api_key" in str(error) or "OPENAI_API_KEY" in str(error):
                    raise ConfigError(
                        "no API key for the OpenAI embeddings; set OPENAI_API_KEY, or `embed.kind` to packaged"
                    ) from error
                raise
        return self._client

    def _encode(self, texts: Sequence[str], *, query: bool) -> npt.ArrayLike:
        client = self._embeddings()
        self._wait()
        try:
            return np.asarray(client.embed_documents(list(texts)), dtype=np.float32)
        except Exception as error:
            if getattr(error, "status_code", None) in (401, 403, 404):
                raise ConfigError(
                    f"the embedding server refuses the model {self.model!r} or the key ({error}); "
                    "check OPENAI_API_KEY, `embed.model` and `embed.base_url`"
                ) from error
            raise

    def _wait(self) -> None:
        """Until the next request may leave; each caller takes a place in the queue."""
        if self.requests_per_minute is None:
            return
        with _QUEUE:
            now = time.monotonic()
            leave = max(now, self._next)
            self._next = leave + 60 / self.requests_per_minute
        time.sleep(leave - now)

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Matrix:
        """As for any embedder; up to `max_concurrency` batches are under way at a time."""
        if len(texts) <= self.batch_size or self.max_concurrency == 1:
            return super().encode(texts, query=query)
        batches = [texts[i : i + self.batch_size] for i in range(0, len(texts), self.batch_size)]
        self._embeddings()
        encode = super().encode
        with ThreadPoolExecutor(self.max_concurrency) as pool:
            return np.concatenate(list(pool.map(lambda batch: encode(batch, query=query), batches)))
