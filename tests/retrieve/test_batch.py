"""A batch: one filter for all queries or one for each, and each query's fault its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.filters import parse_filter
from rag_app.index import LocalVectorStore
from rag_app.retrieve import BM25Retriever, DenseRetriever, HybridRetriever
from rag_app.types import ConfigError

QUERIES = ["pump 1", "pump 1", "pump 1"]
EACH = [{"color": "red"}, {"color": "blue"}, None]
BROKEN = [{"color": {"$near": 1}}, {"color": "blue"}, None]


@pytest.fixture(scope="module")
def store() -> LocalVectorStore:
    names = [(color, i) for color in ("red", "blue") for i in range(4)]
    return LocalVectorStore.from_texts(
        [f"pump {color} {i}" for color, i in names],
        HashingEmbedder(),
        [{"color": color, "i": i} for color, i in names],
        ids=[f"{color}{i}" for color, i in names],
    )


@pytest.fixture(params=[BM25Retriever, DenseRetriever, HybridRetriever])
def retriever(request: pytest.FixtureRequest, store: LocalVectorStore) -> Any:
    return request.param(index=store.index, top_k=2)


def colors(results: Sequence[Any]) -> list[set[str]]:
    return [{document.metadata["color"] for document in documents} for documents in results]


async def test_each_query_has_its_own_filter(retriever: Any) -> None:
    found = retriever.batch(QUERIES, filter=EACH)
    assert colors(found)[:2] == [{"red"}, {"blue"}]
    assert found == [retriever.invoke(query, filter=own) for query, own in zip(QUERIES, EACH, strict=True)]
    assert retriever.batch(QUERIES, filter=tuple(EACH)) == found
    assert await retriever.abatch(QUERIES, filter=EACH) == found
    assert colors(retriever.batch(QUERIES, filter={"color": "blue"})) == [{"blue"}] * 3


async def test_nothing_is_padded_or_recycled(retriever: Any) -> None:
    for wrong in ([], EACH[:1], EACH * 2):
        with pytest.raises(ConfigError, match=f"{len(wrong)} filters for 3 queries"):
            retriever.batch(QUERIES, filter=wrong)
        with pytest.raises(ConfigError, match=f"{len(wrong)} filters for 3 queries"):
            await retriever.abatch(QUERIES, filter=wrong)
    for wrong in ([], EACH, [{"color": "red"}], "red", 0):
        with pytest.raises(ConfigError, match="filter: expected an object"):
            retriever.invoke("pump", filter=wrong)
        with pytest.raises(ConfigError, match="expected an object"):
            retriever.model_copy(update={"filter": {"i": 1}}).invoke("pump", filter=wrong)
    with pytest.raises(ConfigError, match="filter: expected an object"):
        list(retriever.batch_as_completed(QUERIES, filter=EACH))
    assert retriever.batch([], filter=[]) == []


async def test_a_filter_that_cannot_be_meant_fails_its_own_query(retriever: Any) -> None:
    found = retriever.batch(QUERIES, filter=BROKEN, return_exceptions=True)
    assert isinstance(found[0], ConfigError)
    assert "$near" in str(found[0])
    assert found[1:] == retriever.batch(QUERIES[1:], filter=BROKEN[1:])
    later = await retriever.abatch(QUERIES, filter=BROKEN, return_exceptions=True)
    assert isinstance(later[0], ConfigError)
    assert later[1:] == found[1:]
    with pytest.raises(ConfigError, match="near"):
        retriever.batch(QUERIES, filter=BROKEN)
    with pytest.raises(ConfigError, match="near"):
        await retriever.abatch(QUERIES, filter=BROKEN)


def test_the_retrievers_own_filter_is_joined_to_each(retriever: Any) -> None:
    own = retriever.model_copy(update={"filter": {"i": {"$lt": 2}}})
    for documents in own.batch(QUERIES, filter=EACH):
        assert documents
        assert all(document.metadata["i"] < 2 for document in documents)
    assert colors([own.invoke("pump", filter=parse_filter({"color": "red"}))]) == [{"red"}]
    assert len(own.invoke("pump", filter={}, k=9)) == 4


def test_a_number_that_is_none_is_named(retriever: Any) -> None:
    for wrong in ([1, 2, 3], "2", 1.5):
        with pytest.raises(ConfigError, match="k: expected a whole number"):
            retriever.batch(QUERIES, k=wrong)
