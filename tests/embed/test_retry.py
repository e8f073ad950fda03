"""What is tried again, and what is not."""

from __future__ import annotations

import pytest

from rag_app.embed.retry import is_transient, with_retry
from rag_app.types import ConfigError


def test_a_refused_key_is_not_tried_again() -> None:
    class RefusedError(Exception):
        status_code = 401

    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        raise RefusedError

    with pytest.raises(RefusedError):
        with_retry(call, (1.0, 2.0), sleep=lambda _: None)
    assert len(calls) == 1
    assert is_transient(TimeoutError())
    assert not is_transient(ConfigError())
