"""Foreign arms of the hybrid retriever: failures, waiting, callbacks, filters, metadata of their own."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from retrievers import Broken, Fixed, trace

from rag_app.retrieve import BM25Retriever, HybridRetriever
from rag_app.types import ConfigError


def test_an_arm_that_returns_no_documents_at_all_is_named(index: Any) -> None:
    nothing = RunnableLambda(lambda question: None)
    with pytest.raises(ConfigError, match="RunnableLambda returned None, not documents"):
        HybridRetriever(index=index, retrievers=[nothing]).invoke("pump")
    found = HybridRetriever(index=index, retrievers=[nothing], on_error="degrade").invoke("pump")
    assert found
    assert "RunnableLambda returned None" in trace(found).warnings[0]


def test_a_failing_arm_raises_or_is_left_out_with_a_warning(index: Any) -> None:
    with pytest.raises(ConnectionError):
        HybridRetriever(index=index, retrievers=[Broken()]).invoke("pump")
    found = HybridRetriever(index=index, retrievers=[Broken()], on_error="degrade").invoke("pump")
    assert found
    assert trace(found).warnings == ("Broken failed and was left out: the service is down",)


async def test_a_failing_arm_does_the_same_when_asked_without_blocking(index: Any) -> None:
    with pytest.raises(ConnectionError):
        await HybridRetriever(index=index, retrievers=[Broken()]).ainvoke("pump")
    found = await HybridRetriever(index=index, retrievers=[Broken()], on_error="degrade").ainvoke("pump")
    assert trace(found).warnings == ("Broken failed and was left out: the service is down",)


def test_when_every_arm_fails_the_failure_is_raised() -> None:
    with pytest.raises(ConnectionError):
        HybridRetriever(retrievers=[Broken(), Broken()], on_error="degrade").invoke("pump")


class Slow(BaseRetriever):
    """A foreign retriever that waits, and notes whether it was stopped."""

    log: list[str]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise NotImplementedError

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.log.append("started")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.log.append("stopped")
            raise
        return []


async def test_a_failed_arm_leaves_nothing_running() -> None:
    slow = Slow(log=[])
    with pytest.raises(ConnectionError):
        await HybridRetriever(retrievers=[slow, Broken()]).ainvoke("pump")
    assert slow.log == ["started", "stopped"]


async def test_a_cancelled_search_leaves_nothing_running() -> None:
    slow = Slow(log=[])
    task = asyncio.create_task(HybridRetriever(retrievers=[slow, Fixed(documents=[])]).ainvoke("pump"))
    while not slow.log:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert slow.log == ["started", "stopped"]


def test_foreign_arms_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=30)

    class Meets(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            meeting.wait()  # breaks when the other arm is not running by then
            return [Document(page_content="met")]

    assert len(HybridRetriever(retrievers=[Meets(), Meets()]).invoke("q")) == 1


class Recorder(BaseCallbackHandler):
    """Notes each retriever run with its parent and tags."""

    def __init__(self) -> None:
        self.runs: list[tuple[Any, Any, list[str]]] = []

    def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
        self.runs.append((kwargs["run_id"], kwargs["parent_run_id"], kwargs.get("tags") or []))


async def test_callbacks_and_config_reach_every_child(index: Any) -> None:
    retriever = HybridRetriever(index=index, retrievers=[BM25Retriever(index=index), Fixed(documents=[])])
    for call in ("invoke", "ainvoke"):
        recorder = Recorder()
        config: Any = {"callbacks": [recorder], "tags": ["mine"]}
        if call == "invoke":
            retriever.invoke("pump", config)
        else:
            await retriever.ainvoke("pump", config)
        parent, *children = recorder.runs
        assert len(children) == 2
        assert all(child[1] == parent[0] for child in children)
        assert all("mine" in child[2] for child in children)


def test_a_filter_is_applied_to_what_a_foreign_arm_returns() -> None:
    documents = [Document(page_content="a", metadata={"year": 1}), Document(page_content="b", metadata={"year": 2})]
    found = HybridRetriever(retrievers=[Fixed(documents=documents)]).invoke("q", filter={"year": 2})
    assert [document.page_content for document in found] == ["b"]
    assert "does not take filters" in trace(found).warnings[0]


@pytest.mark.parametrize(
    "own",
    [
        {"stages": "mine"},
        {"stages": {"a": 1}},
        {"stages": {"a": {"score": None, "rank": 1}}},
        {"stages": {"a": {"score": "x", "rank": "y"}}},
        {"stages": []},
        {"score": float("nan")},
        {"score": float("inf")},
        {"score": True},
        {"relevance_score": "high"},
    ],
)
@pytest.mark.parametrize("fusion", ["rrf", "linear", "dbsf"])
def test_metadata_that_only_look_like_scores_are_a_persons_own(index: Any, own: Any, fusion: Any) -> None:
    arm = Fixed(documents=[Document(page_content="mine", metadata=own), Document(page_content="other", metadata=own)])
    record = trace(HybridRetriever(index=index, retrievers=[arm], fusion=fusion, weights=[1, 1, 1]).invoke("pump"))
    assert [hit.score for hit in record.rankings["Fixed"]] == [1.0, 0.5]
    assert all(math.isfinite(hit.score) for hit in record.rankings[fusion])
