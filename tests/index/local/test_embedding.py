"""Kept vectors are forgotten when no chunk needs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rag_app.embed import HashingEmbedder
from rag_app.embed.cache import EmbeddingCache
from rag_app.index import LocalIndex

Pair = Callable[..., Any]


def test_kept_vectors_of_texts_that_are_gone_are_forgotten(tmp_path: Path, pair: Pair) -> None:
    embedder = HashingEmbedder(dimensions=8)
    with LocalIndex.create(tmp_path / "i", embedder=embedder) as index:
        index.add([pair("a.txt", ["the pump", "a filter"]), pair("b.txt", ["old text", "older text"])])
    index.delete(sources=["b.txt"])
    index.commit()
    (tmp_path / "i/cache/other.keys").write_bytes(b"of another model")
    assert index.prune_cache(only_when_large=True) == 2  # another model's files are a reason
    assert [file.suffix for file in sorted((tmp_path / "i/cache").iterdir())] == [".keys", ".vectors"]
    cache = EmbeddingCache(tmp_path / "i/cache", embedder)
    assert set(cache.get(["the pump", "a filter", "old text"])) == {"the pump", "a filter"}
    assert np.array_equal(cache.get(["the pump"])["the pump"], embedder.encode(["the pump"])[0])
    assert index.prune_cache() == 0
    index.delete(sources=["a.txt"])
    index.merge()
    assert len(cache) == 0
