"""Query transforms with scripted models: what is asked, what is fused, and the way back when a model babbles."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage

from rag_app.retrieve.query import (
    DecomposeQuery,
    HypotheticalDocument,
    MultiQuery,
    QueryRetriever,
    RewriteQuery,
    SelfQuery,
)
from rag_app.retrieve.query.base import lines_of
from rag_app.types import ConfigError


def model(*replies: str) -> FakeListChatModel:
    return FakeListChatModel(responses=list(replies))


class Broken(FakeListChatModel):
    """A chat model whose service is down."""

    def _call(self, *args: Any, **kwargs: Any) -> str:
        raise ConnectionError("no service")


HISTORY = [HumanMessage("How do I reset the pump?"), AIMessage("With the red lever. {use: json}")]


def test_lines_lose_bullets_numbers_quotes_and_chatter() -> None:
    reply = 'Here are the queries:\n1. reset the pump\n- "reset the pump"\n* lever of the pump\n\n---\n'
    assert lines_of(reply, limit=5) == ["reset the pump", "lever of the pump"]


def test_a_follow_up_is_rewritten_in_the_light_of_the_history() -> None:
    asked = RewriteQuery(chat_model=model("Which lever resets the pump?"))
    assert asked.invoke({"question": "which one?", "history": HISTORY}).queries == ("Which lever resets the pump?",)


def test_without_history_no_model_is_asked() -> None:
    assert RewriteQuery(chat_model=Broken(responses=[])).invoke("which one?").warnings == ()


def test_multi_query_keeps_the_question_first_and_the_count() -> None:
    asked = MultiQuery(count=2, chat_model=model("1. a one\n2. b two\n3. c three")).invoke("q?")
    assert asked.queries == ("q?", "a one", "b two")


def test_hyde_searches_for_the_passage_beside_the_question() -> None:
    passage = "The pump is reset with\nthe red lever at its back."
    asked = HypotheticalDocument(chat_model=model(passage)).invoke("How is it reset?")
    assert asked.queries == ("How is it reset?", "The pump is reset with the red lever at its back.")


def test_a_simple_question_is_not_decomposed() -> None:
    assert DecomposeQuery(chat_model=model("What is it?")).invoke("What is it?").queries == ("What is it?",)
    parts = DecomposeQuery(chat_model=model("What is a?\nWhat is b?")).invoke("What are a and b?")
    assert parts.queries == ("What are a and b?", "What is a?", "What is b?")


@pytest.mark.parametrize("transform", [RewriteQuery, MultiQuery, HypotheticalDocument, DecomposeQuery])
async def test_a_model_that_fails_or_babbles_leaves_the_plain_question(transform: Any) -> None:
    for chat_model in (Broken(responses=[]), model("\n\n"), model("x" * 5000)):
        each = transform(chat_model=chat_model)
        given = {"question": "which one?", "history": HISTORY}
        asked = each.invoke(given)
        assert asked.queries == ("which one?",)
        assert "the plain question was searched for" in asked.warnings[0]
        assert await transform(chat_model=chat_model).ainvoke(given) == asked


def test_a_filter_may_only_name_known_fields() -> None:
    fields = {"year": "number"}
    good = json.dumps({"query": "pump", "filter": {"year": {"$gte": 2024}}})
    asked = SelfQuery(fields=fields, chat_model=model(f"Sure! {good}")).invoke("pumps since 2024")
    assert (asked.queries, asked.filter) == (("pump",), {"year": {"$gte": 2024}})
    for bad in ({"month": 5}, {"year": {"$like": 1}}):
        reply = json.dumps({"query": "pump", "filter": bad})
        asked = SelfQuery(fields=fields, chat_model=model(reply)).invoke("pumps since 2024")
        assert (asked.queries, asked.filter) == (("pumps since 2024",), None)
        assert "the filter was left out" in asked.warnings[0]
    assert SelfQuery(fields=fields, chat_model=model("no idea")).invoke("q").warnings


def test_what_was_asked_is_in_the_trace_and_fused_by_reciprocal_ranks(index: Any) -> None:
    retriever = QueryRetriever(index=index, ask=MultiQuery(), chat_model=model("holiday requests\nthirty days"))
    found: Any = retriever.invoke("how long may I be away?")
    assert found.trace.queries == ("how long may I be away?", "holiday requests", "thirty days")
    assert found[0].metadata["source"] == "holiday.txt"
    best = found.trace.rankings["multi-query"][0]
    assert sum(found.trace.fusion_terms(best.chunk_id, "multi-query").values()) == pytest.approx(best.score)
    assert found[0].metadata["stages"]["multi-query"]["rank"] == 1


async def test_the_ways_to_call_agree_and_a_babbling_model_changes_nothing(index: Any) -> None:
    def make(*replies: str) -> QueryRetriever:
        return QueryRetriever(index=index, chat_model=model(*replies))

    one = make("holiday\ndays").invoke("away?")
    assert await make("holiday\ndays").ainvoke("away?") == one
    babbled: Any = make("").invoke("holiday requests")
    assert [d.id for d in babbled] == [
        d.id for d in make("").base.model_copy(update={"index": index}).invoke("holiday requests")
    ]
    assert babbled.trace.warnings


def test_a_self_query_filter_reaches_the_index(index: Any) -> None:
    reply = json.dumps({"query": "pump", "filter": {"year": 2023}})
    transform = SelfQuery(fields={"year": "number"})
    found = QueryRetriever(index=index, ask=transform, chat_model=model(reply)).invoke("the pump in 2023")
    assert [document.metadata["source"] for document in found] == ["valve.txt"]


def test_no_chat_model_is_said_in_one_sentence(index: Any) -> None:
    with pytest.raises(ConfigError, match="no chat model"):
        QueryRetriever(index=index).invoke("pump")
