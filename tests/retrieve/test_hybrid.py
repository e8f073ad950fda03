"""The hybrid retriever: identity, depth, weights, foreign arms, failures, agreement of the ways to call it."""

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

from rag_app.retrieve import BM25Retriever, DenseRetriever, HybridRetriever, linear_fusion, reciprocal_rank_fusion
from rag_app.trace import Ranked
from rag_app.types import ConfigError


class Fixed(BaseRetriever):
    """A foreign retriever that returns what it was given."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


class Broken(BaseRetriever):
    """A foreign retriever whose service is down."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError("the service is down")


def trace(found: Any) -> Any:
    assert isinstance(found, Ranked)
    return found.trace


def test_the_fused_score_is_reciprocal_rank_fusion_of_both_arms(index: Any) -> None:
    record = trace(HybridRetriever(index=index, weights=[1, 1]).invoke("valve of the pump"))
    arms = [[hit.chunk_id for hit in record.rankings[name]] for name in ("bm25", "dense")]
    assert {hit.chunk_id: hit.score for hit in record.rankings["rrf"]} == reciprocal_rank_fusion(arms, k=20)


def test_linear_fusion_takes_scores_and_named_weights(index: Any) -> None:
    retriever = HybridRetriever(index=index, fusion="linear", weights="fixed", bm25_weight=0.8, dense_weight=0.2)
    record = trace(retriever.invoke("valve of the pump"))
    arms = [{hit.chunk_id: hit.score for hit in record.rankings[name]} for name in ("bm25", "dense")]
    expected = linear_fusion(arms, weights=[0.8, 0.2], normalization="top")
    assert {hit.chunk_id: hit.score for hit in record.rankings["linear"]} == pytest.approx(expected)


def test_linear_fusion_scores_a_candidate_in_both_arms_however_deep_they_rank(index: Any) -> None:
    deep = HybridRetriever(index=index, fusion="linear", normalization="max", fetch_k=5).invoke("closed valve", k=1)
    flat = HybridRetriever(index=index, fusion="linear", normalization="max", fetch_k=1).invoke("closed valve", k=1)
    assert flat[0].id == deep[0].id
    assert trace(flat).rankings["linear"][0].score == pytest.approx(trace(deep).rankings["linear"][0].score)
    for hit in trace(flat).rankings["linear"]:
        assert sum(trace(flat).fusion_terms(hit.chunk_id, "linear").values()) == pytest.approx(hit.score)


def test_every_hit_carries_rank_and_score_of_every_stage_as_plain_numbers(index: Any) -> None:
    found = HybridRetriever(index=index).invoke("pump", k=2)
    for place, document in enumerate(found, start=1):
        stages = document.metadata["stages"]
        assert stages["rrf"]["rank"] == place
        assert type(stages["rrf"]["score"]) is float
        assert stages["dense"].keys() == {"rank", "score"}


def test_arms_rank_deeper_than_what_is_returned(index: Any) -> None:
    found = HybridRetriever(index=index, top_k=1, fetch_k=4).invoke("pump")
    assert len(found) == 1
    assert len(trace(found).rankings["dense"]) == 4
    assert len(trace(HybridRetriever(index=index, fetch_k=1).invoke("pump", k=5)).rankings["dense"]) == 5


def test_a_filter_reaches_every_arm(index: Any) -> None:
    found = HybridRetriever(index=index).invoke("pump", filter={"year": 2023})
    assert [document.metadata["source"] for document in found] == ["valve.txt"]
    assert all(len(hits) == 1 for hits in trace(found).rankings.values())


def test_batch_takes_one_filter_or_one_per_query(index: Any) -> None:
    retriever = HybridRetriever(index=index)
    both = retriever.batch(["pump", "pump"], filter=[{"year": 2023}, {"year": 2024}])
    assert [[d.metadata["source"] for d in found] for found in both] == [["valve.txt"], ["pump.txt"]]
    assert len(retriever.batch(["pump", "valve"], filter={"year": 2023})[1]) == 1
    with pytest.raises(ConfigError, match="1 filters for 2 queries"):
        retriever.batch(["pump", "valve"], filter=[None])


def test_a_batch_embeds_all_queries_at_once(index: Any) -> None:
    HybridRetriever(index=index).batch(["pump", "valve", "cats"])
    assert index.calls.count("dense_by_vectors") == 1


async def test_invoke_ainvoke_batch_abatch_agree(index: Any) -> None:
    retriever = HybridRetriever(index=index, retrievers=[BM25Retriever(index=index)])
    questions = ["pump", "holiday requests", ""]
    one = [retriever.invoke(q) for q in questions]
    assert [await retriever.ainvoke(q) for q in questions] == one
    assert retriever.batch(questions) == one
    assert await retriever.abatch(questions) == one


def test_equal_text_from_two_sources_stays_two_documents() -> None:
    a = Fixed(documents=[Document(page_content="same", metadata={"source": "A"})])
    b = Fixed(documents=[Document(page_content="same", metadata={"source": "B"})])
    found = HybridRetriever(retrievers=[a, b]).invoke("same")
    assert [document.metadata["source"] for document in found] == ["A", "B"]
    assert len({document.id for document in found}) == 2


def test_one_document_from_two_arms_is_one_also_when_only_one_arm_names_it() -> None:
    a = Fixed(documents=[Document(id="x", page_content="same", metadata={"source": "A"})])
    b = Fixed(documents=[Document(page_content="same", metadata={"source": "A"})])
    found = HybridRetriever(retrievers=[a, b]).invoke("same")
    assert [document.id for document in found] == ["x"]
    assert trace(found).rankings["rrf"][0].score == pytest.approx(2 * 0.5 / 61)


def test_two_retrievers_of_one_kind_keep_their_own_rankings(memory_index: Any) -> None:
    a = BM25Retriever(index=memory_index({"a1": "the pump", "a2": "pump pump pump"}))
    b = BM25Retriever(index=memory_index({"b1": "a pump", "b2": "pump and pump and pump", "b3": "pump"}))
    record = trace(HybridRetriever(retrievers=[a, b]).invoke("pump"))
    assert list(record.rankings) == ["bm25", "bm25-2", "rrf"]
    for stage, alone in (("bm25", a), ("bm25-2", b)):
        assert record.rankings[stage] == trace(alone.invoke("pump")).rankings["bm25"]
    for hit in record.rankings["rrf"]:
        assert sum(record.fusion_terms(hit.chunk_id, "rrf").values()) == pytest.approx(hit.score)


@pytest.mark.parametrize("fusion", ["rrf", "linear"])
def test_a_fusion_of_fusions_keeps_every_ranking_apart(memory_index: Any, fusion: Any) -> None:
    a = HybridRetriever(index=memory_index({"a1": "the pump", "a2": "pump pump pump"}), fusion=fusion)
    b = HybridRetriever(index=memory_index({"b1": "a pump", "b2": "pump and pump and pump"}), fusion=fusion)
    record = trace(HybridRetriever(retrievers=[a, b], fusion=fusion).invoke("pump"))
    assert list(record.rankings)[-1] == fusion
    for arm, alone in (("hybrid", a), ("hybrid-2", b)):
        own = trace(alone.invoke("pump"))
        inner = f"{arm}/{fusion}"
        assert record.rankings[inner] == own.rankings[fusion]
        for hit in record.rankings[inner]:
            assert sum(record.fusion_terms(hit.chunk_id, inner).values()) == pytest.approx(hit.score)
    for hit in record.rankings[fusion]:
        assert sum(record.fusion_terms(hit.chunk_id, fusion).values()) == pytest.approx(hit.score)


def test_an_arm_that_returns_no_documents_at_all_is_named(index: Any) -> None:
    nothing = RunnableLambda(lambda question: None)
    with pytest.raises(ConfigError, match="RunnableLambda returned None, not documents"):
        HybridRetriever(index=index, retrievers=[nothing]).invoke("pump")
    found = HybridRetriever(index=index, retrievers=[nothing], on_error="degrade").invoke("pump")
    assert found
    assert "RunnableLambda returned None" in trace(found).warnings[0]


def test_an_arm_may_be_named_like_the_fusion(memory_index: Any) -> None:
    arm = BM25Retriever(index=memory_index({"a1": "the pump", "a2": "pump pump pump"}), name="rrf")
    record = trace(HybridRetriever(retrievers=[arm]).invoke("pump"))
    assert list(record.rankings) == ["rrf-2", "rrf"]


def test_a_duplicate_in_one_list_has_one_vote() -> None:
    top, dup = Document(id="top", page_content="top"), Document(id="dup", page_content="dup")
    found = HybridRetriever(retrievers=[Fixed(documents=[top, dup, dup, dup]), Fixed(documents=[])]).invoke("q")
    assert [document.id for document in found] == ["top", "dup"]


def test_the_arguments_of_ensemble_retriever_work() -> None:
    a = Fixed(documents=[Document(page_content="one", metadata={"key": 1})])
    b = Fixed(documents=[Document(page_content="uno", metadata={"key": 1}), Document(page_content="two")])
    retriever = HybridRetriever(retrievers=[a, b], weights=[0.2, 0.8], c=10, id_key="key")
    record = trace(retriever.invoke("q"))
    assert HybridRetriever(retrievers=[a, b]).rrf_k == 60  # as LangChain's, where nothing is said
    assert record.rankings["rrf"][0].score == pytest.approx(0.2 / 11 + 0.8 / 11)
    assert record.rankings["rrf"][1].score == pytest.approx(0.8 / 12)


def test_weights_that_do_not_fit_the_arms_are_refused() -> None:
    with pytest.raises(ValueError, match="3 weights for 2 arms"):
        HybridRetriever(retrievers=[Fixed(documents=[]), Fixed(documents=[])], weights=[1, 1, 1])


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
    assert slow.log == ["stopped"]


async def test_a_cancelled_search_leaves_nothing_running() -> None:
    slow = Slow(log=[])
    task = asyncio.create_task(HybridRetriever(retrievers=[slow, Fixed(documents=[])]).ainvoke("pump"))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert slow.log == ["stopped"]


def test_foreign_arms_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=5)

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


def test_a_blank_query_finds_nothing_and_says_so(index: Any) -> None:
    for retriever in (BM25Retriever(index=index), DenseRetriever(index=index), HybridRetriever(index=index)):
        assert retriever.invoke("  \n") == []
        assert trace(retriever.invoke("")).warnings == ("the query is blank",)


def test_a_stage_leaves_the_documents_of_the_index_as_they_were(index: Any) -> None:
    before = {c: d.model_dump() for c, d in index.chunks.items()}
    HybridRetriever(index=index).invoke("pump")
    assert {c: d.model_dump() for c, d in index.chunks.items()} == before


def test_a_distrusted_embedder_loses_its_say(index: Any) -> None:
    index.notes = {"arms": {"ratio": 0.24, "pieces_per_word": 7.3}}
    record = trace(HybridRetriever(index=index).invoke("valve of the pump"))
    assert record.parameters["rrf"]["weights"]["dense"] < 0.05
    order = [hit.chunk_id for hit in record.rankings["bm25"]]
    assert [hit.chunk_id for hit in record.rankings["rrf"]][: len(order)] == order


def test_no_index_is_said_in_one_sentence() -> None:
    with pytest.raises(ConfigError, match="no index"):
        HybridRetriever().invoke("pump")


def test_less_than_one_result_cannot_be_asked_for(index: Any) -> None:
    with pytest.raises(ConfigError, match="ask for 1 or more"):
        HybridRetriever(index=index).invoke("pump", k=0)


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
