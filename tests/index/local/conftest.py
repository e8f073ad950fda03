"""A small index for the tests of the local one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex

Pair = Callable[..., Any]

EMBEDDER = HashingEmbedder(dimensions=16)


@pytest.fixture
def filled(tmp_path: Path, pair: Pair) -> Path:
    with LocalIndex.create(tmp_path / "index", embedder=EMBEDDER) as index:
        for i in range(5):
            index.upsert(*pair(f"{i}.txt", [f"the pump number {i}", f"a filter {i}"], n=i))
    return tmp_path / "index"
