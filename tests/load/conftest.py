"""Small files of every kind, made for the tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_app.load.parsed import Failed, Parsed, ReadOptions, Result
from rag_app.load.read import read


@pytest.fixture(scope="session")
def parse() -> Callable[..., Parsed]:
    """Read bytes under a name and return the only document, or the first of several."""

    def one(data: bytes | str, name: str, **options: object) -> Parsed:
        results = read(data.encode() if isinstance(data, str) else data, name, ReadOptions(**options))  # type: ignore[arg-type]
        assert isinstance(results[0], Parsed), results[0]
        return results[0]

    return one


@pytest.fixture(scope="session")
def fail() -> Callable[..., Failed]:
    """Read bytes under a name and return the failure."""

    def one(data: bytes | str, name: str, **options: object) -> Failed:
        results: list[Result] = read(data.encode() if isinstance(data, str) else data, name, ReadOptions(**options))  # type: ignore[arg-type]
        assert isinstance(results[0], Failed), results[0]
        return results[0]

    return one
