"""Another try for what a network or a busy server made fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from rag_app.types import ConfigError, MissingExtraError

T = TypeVar("T")


def is_transient(error: BaseException) -> bool:
    """Whether another try may help: not for wrong settings, a refused key or a request the server calls wrong."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status in (408, 409, 425, 429) or status >= 500
    return isinstance(error, Exception) and not isinstance(error, ConfigError | MissingExtraError | TypeError)


def with_retry(call: Callable[[], T], waits: Sequence[float], *, sleep: Callable[[float], None] = time.sleep) -> T:
    """What `call` returns; after a transient error it is called again, once for each of `waits` (seconds)."""
    if not waits:
        return call()
    from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_chain, wait_fixed

    retrying = Retrying(
        stop=stop_after_attempt(len(waits) + 1),
        wait=wait_chain(*(wait_fixed(seconds) for seconds in waits)),
        retry=retry_if_exception(is_transient),
        sleep=sleep,
        reraise=True,
    )
    return retrying(call)
