"""An index and another model or analyzer than it was built with, before and after it is embedded again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.index import IndexSettings, LocalIndex
from rag_app.index.local.identity import CANARIES
from rag_app.index.reembed import reembed_index
from rag_app.text import Analyzer
from rag_app.types import IndexMismatchError

Pair = Callable[..., Any]

EMBEDDER = HashingEmbedder(dimensions=16)


def test_another_embedder_or_analyzer_is_named_with_both_values_and_the_way_out(filled: Path) -> None:
    with pytest.raises(IndexMismatchError, match=r"hashing-16.*hashing-64.*--reembed.*--rebuild.*set `embed` back"):
        LocalIndex.open(filled, embedder=HashingEmbedder(dimensions=64))
    with pytest.raises(IndexMismatchError, match=r"analyzer.*: language 'auto' against 'german'; .*--rebuild"):
        LocalIndex.open(filled, settings=IndexSettings(analyzer=Analyzer(language="german")))


class Renamed(HashingEmbedder):
    """Another model of the same dimension."""

    @property
    def name(self) -> str:
        return "other"


class Changed(HashingEmbedder):
    """The same name, other weights."""

    def _encode(self, texts: Any, *, query: bool) -> Any:
        return -1 * super()._encode([text + " x y z" for text in texts], query=query)  # type: ignore[operator]


class Broken(HashingEmbedder):
    """The same name; what it gives is no vector."""

    def _encode(self, texts: Any, *, query: bool) -> Any:
        return float("nan") * super()._encode(texts, query=query)  # type: ignore[operator]


def test_a_model_that_gives_no_numbers_any_more_is_noticed(filled: Path) -> None:
    with pytest.raises(IndexMismatchError, match="has changed since the index was built"):
        LocalIndex.open(filled, embedder=Broken(dimensions=16)).dense("pump", k=1)


def test_changed_weights_under_an_old_name_are_noticed_by_the_canaries(filled: Path) -> None:
    index = LocalIndex.open(filled, embedder=Changed(dimensions=16))
    assert index.bm25("pump", k=1)
    with pytest.raises(IndexMismatchError, match="has changed since the index was built"):
        index.dense("pump", k=1)
    assert len(index.manifest["canaries"]) == len(CANARIES)


def test_who_had_the_index_open_does_not_mix_models_when_another_embeds_it_again(filled: Path, pair: Pair) -> None:
    given = LocalIndex.open(filled, embedder=EMBEDDER)
    made = LocalIndex.open(filled)
    assert len(made.dense("pump", k=1)) == 1
    reembed_index(filled, Renamed(dimensions=16)).close()
    assert len(given.dense("pump", k=1)) == 1  # of the state that it has open
    for use in (given.refresh, lambda: given.upsert(*pair("new.txt", "new")), lambda: given.delete(ids=["x"])):
        with pytest.raises(IndexMismatchError, match=r"'other'.*'hashing-16'.*--reembed"):
            use()
    assert len(given.dense("pump", k=1)) == 1
    reembed_index(filled, HashingEmbedder(dimensions=32)).close()
    assert made.refresh()
    assert made.dense("the pump number 3", k=1)[0].score == pytest.approx(1.0)
    with made:
        made.upsert(*pair("new.txt", "new"))
    assert LocalIndex.open(filled).vectors(made.chunk_ids()).shape == (11, 32)


def test_what_is_committed_while_embedding_again_waits_for_the_lock_is_not_lost(filled: Path, pair: Pair) -> None:
    writer = LocalIndex.open(filled, embedder=EMBEDDER)
    writer.upsert(*pair("late.txt", "a late pump"))
    waiting = threading.Thread(target=reembed_index, args=(filled, HashingEmbedder(dimensions=32)))
    waiting.start()
    time.sleep(0.3)
    writer.commit()
    waiting.join()
    index = LocalIndex.open(filled)
    assert index.manifest["embedder"]["dimension"] == 32
    assert "late.txt" in index.sources()


def test_changed_weights_are_noticed_by_who_had_the_index_open(filled: Path, pair: Pair) -> None:
    index = LocalIndex.open(filled, embedder=EMBEDDER)
    assert index.dense("pump", k=1)
    reembed_index(filled, Changed(dimensions=16)).close()  # the same name
    assert index.refresh()
    with pytest.raises(IndexMismatchError, match="has changed since"):
        index.dense("pump", k=1)
    with pytest.raises(IndexMismatchError, match="has changed since"), index:
        index.upsert(*pair("new.txt", "new"))
    assert len(LocalIndex.open(filled)) == 10
