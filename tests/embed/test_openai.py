"""OpenAI's embeddings, against a server on the loopback: batches, failures, the rate of requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from openai_server import ChatServer, Step
from pydantic import SecretStr

from rag_app.embed import OpenAIEmbedder
from rag_app.embed.batches import embed_texts
from rag_app.index import LocalIndex
from rag_app.ingest import ingest
from rag_app.split import RecursiveSplitter
from rag_app.types import ConfigError, LoadedDocument


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def embedder(server: ChatServer, **options: Any) -> OpenAIEmbedder:
    key = SecretStr("test")
    return OpenAIEmbedder(model="fake", base_url=server.base_url, api_key=key, **{"max_concurrency": 1, **options})


TEXTS = {f"t{i}": "pump " * (i + 1) + "filter" for i in range(7)}


def test_batches_go_out_several_at_a_time_and_come_back_in_order(server: ChatServer) -> None:
    model = embedder(server, batch_size=2, max_concurrency=3)
    rows = model.encode(list(TEXTS.values()))
    assert sorted(len(request["input"]) for request in server.requests) == [1, 2, 2, 2]
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert np.array_equal(rows, np.stack([model.encode([text])[0] for text in TEXTS.values()]))
    assert model.dimension == 8
    assert {
        value for headers in server.headers for key, value in headers.items() if key.lower() == "authorization"
    } == {"Bearer test"}


def test_a_failed_batch_is_tried_again_after_1_2_and_4_seconds(server: ChatServer) -> None:
    model = embedder(server)
    assert model.dimension == 8  # asked for once
    waits: list[float] = []
    server.script[:] = [Step(status=500), Step(status=429), Step(status=503), Step()]
    vectors, reasons = embed_texts(model, TEXTS, sleep=waits.append)
    assert waits == [1, 2, 4]
    assert (set(vectors), reasons) == (set(TEXTS), {})


@pytest.mark.parametrize("at_a_time", [1, 3])
def test_only_the_failed_batch_is_sent_again(server: ChatServer, at_a_time: int) -> None:
    model = embedder(server, batch_size=1, max_concurrency=at_a_time)
    assert model.dimension == 8
    server.requests.clear()
    server.script[:] = [Step(), Step(), Step(status=429), Step()]
    waits: list[float] = []
    vectors, reasons = embed_texts(model, TEXTS, sleep=waits.append)
    assert (set(vectors), reasons, waits) == (set(TEXTS), {}, [1])
    sent = [request["input"][0] for request in server.requests]
    assert sorted(sent) == sorted([*TEXTS.values(), next(text for text in sent if sent.count(text) == 2)])
    assert all((vectors[key] == model.encode([text])[0]).all() for key, text in TEXTS.items())


def test_no_more_batches_are_under_way_than_are_set(server: ChatServer) -> None:
    model = embedder(server, batch_size=1, max_concurrency=3)
    assert model.dimension == 8
    met = threading.Barrier(3, timeout=30)  # the first three are answered together
    server.script[:] = [*[Step(wait=met.wait)] * 3, Step(seconds=0.02)]
    vectors, _ = embed_texts(model, TEXTS)
    assert len(vectors) == 7
    assert server.most_under_way == 3


def test_a_query_is_tried_again_too(server: ChatServer) -> None:
    class Quick(OpenAIEmbedder):
        retry_waits: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0)

    model = Quick(model="fake", base_url=server.base_url, api_key=SecretStr("test"))
    server.script[:] = [Step(status=503), Step(status=429), Step()]
    assert len(model.embed_query("pump")) == 8
    assert len(server.requests) == 3


def test_a_batch_that_never_comes_through_is_told_and_the_others_stay(server: ChatServer) -> None:
    model = embedder(server, batch_size=4)
    assert model.dimension == 8
    server.script[:] = [*[Step(status=500)] * 4, Step()]
    vectors, reasons = embed_texts(model, TEXTS, sleep=lambda _: None)
    assert (len(vectors), len(reasons)) == (3, 4)
    assert all("planned failure 500" in reason for reason in reasons.values())


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_model_is_a_setting_to_be_corrected(server: ChatServer, status: int) -> None:
    model = embedder(server)
    server.script[:] = [Step(status=status)]
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        embed_texts(model, TEXTS, sleep=lambda _: None)
    assert len(server.requests) == 1


def test_requests_are_spaced_out_by_the_rate_that_is_set(server: ChatServer) -> None:
    model = embedder(server, batch_size=1, max_concurrency=4, requests_per_minute=1200)
    started = time.monotonic()
    model.encode(list(TEXTS.values()))
    assert time.monotonic() - started >= 6 * 60 / 1200


def test_an_index_is_built_and_searched_over_the_network(server: ChatServer, tmp_path: Path) -> None:
    index = LocalIndex.create(tmp_path / "i", embedder=embedder(server))
    document = LoadedDocument(id="d", page_content="The pump stops. " * 20, metadata={"source": "d.txt"})
    report = ingest(index, [document], RecursiveSplitter(chunk_size=40, chunk_overlap=0))
    assert (report.added, report.failed) == (1, ())
    before = len(server.requests)
    assert len(index.dense("pump", k=3)) == 3
    assert len(server.requests) == before + 1
