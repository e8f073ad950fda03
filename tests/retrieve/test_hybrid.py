"""The hybrid retriever: identity, depth, weights, several arms, agreement of the ways to call it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from retrievers import Fixed, trace

from rag_app.retrieve import BM25Retriever, DenseRetriever, HybridRetriever, linear_fusion, reciprocal_rank_fusion
from rag_app.types import ConfigError


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
