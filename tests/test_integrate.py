"""The bridge into LangChain apps: tools, middleware, the guard, the parser; all offline with scripted models."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from rag_app.answer import Answer
from rag_app.integrate import (
    AnswerParser,
    as_tool,
    cited_prompt,
    parse_citations,
    rag_middleware,
    verified,
    with_history,
)
from rag_app.types import ConfigError, UnsupportedClaimsError
from rag_app.verify import Verifier

DOCUMENTS = [
    Document("The MX-400 pump weighs 12 kg.", id="d1:50-79", metadata={"source": "a.md", "start_index": 50, "page": 2}),
    Document("Invoices are due 45 days after receipt.", id="d2:0-39", metadata={"source": "b.md", "start_index": 0}),
]
TEXT = "The MX-400 pump weighs 12 kg [1]. Invoices are due after 45 days [2, 9]."
CLEAN = "The MX-400 pump weighs 12 kg [1]. Invoices are due after 45 days [2]."


class Shelf(BaseRetriever):
    """A retriever that always gives its documents."""

    documents: list[Document] = DOCUMENTS

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return list(self.documents)


class ToolModel(GenericFakeChatModel):
    """A scripted chat model that takes tools."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


class Memory(BaseChatMessageHistory):
    """A session's messages in a list."""

    def __init__(self) -> None:
        self.messages = []

    def add_message(self, message: Any) -> None:
        self.messages = [*self.messages, message]

    def clear(self) -> None:
        self.messages = []


def scripted(*messages: AIMessage) -> ToolModel:
    return ToolModel(messages=iter(messages))


def test_a_text_and_its_documents_become_an_answer() -> None:
    answer = parse_citations(TEXT, DOCUMENTS, question="How heavy?", verifier=Verifier())
    assert answer.text == CLEAN
    assert answer.phantoms == ("9",)
    assert [citation.quote for citation in answer.citations] == [d.page_content for d in DOCUMENTS]
    assert tuple(answer.citations[0].span) == (50, 79)
    assert [verdict.label for verdict in answer.verdicts] == ["supported", "supported"]
    assert Answer.from_json(answer.to_json()) == answer


def test_a_text_that_declines_is_an_abstention() -> None:
    answer = parse_citations("I don't have enough information to answer this question.", DOCUMENTS)
    assert answer.abstained
    assert answer.abstention_reason == "model_declined"


def test_the_parser_ends_a_chain_and_streams_growing_answers() -> None:
    chain = cited_prompt() | FakeListChatModel(responses=[TEXT]) | AnswerParser(documents=DOCUMENTS)
    inputs = {"question": "q {x}", "evidence": "e {y}", "delimiter": "d", "abstention": "no"}
    whole = chain.invoke(inputs)
    grown = list(chain.stream(inputs))
    assert whole.text == CLEAN
    assert grown[-1] == whole
    assert len(grown) > 10
    for earlier, later in itertools.pairwise(grown):
        assert later.text.startswith(earlier.text)
        assert "9" not in later.text
        assert later.text.count("[") == later.text.count("]")


async def test_the_parser_streams_asynchronously_to_the_same_answer() -> None:
    parser = AnswerParser(documents=DOCUMENTS)

    async def pieces() -> Any:
        for char in TEXT:
            yield char

    grown = [answer async for answer in parser.atransform(pieces())]
    assert grown[-1] == parser.invoke(TEXT)


def test_a_retriever_as_a_tool_keeps_its_documents_as_artifact() -> None:
    tool = as_tool(Shelf())
    message = tool.invoke(ToolCall(name=tool.name, args={"query": "pump"}, id="1", type="tool_call"))
    assert "[1] (a.md, page 2) The MX-400 pump weighs 12 kg." in message.content
    assert [document.id for document in message.artifact] == ["d1:50-79", "d2:0-39"]
    empty = as_tool(Shelf(documents=[])).invoke({"query": "x"})
    assert empty == "Nothing relevant was found."


def test_a_chain_as_a_tool_keeps_its_citations() -> None:
    chain = RunnableLambda(lambda question: parse_citations(TEXT, DOCUMENTS, question=question))
    tool = as_tool(chain)
    message = tool.invoke(ToolCall(name=tool.name, args={"query": "How heavy?"}, id="1", type="tool_call"))
    assert "Sources:\n[1] a.md, page 2\n[2] b.md" in message.content
    assert Answer.from_json(json.dumps(message.artifact)).citations[0].quote == DOCUMENTS[0].page_content


def test_an_agent_uses_the_tool_and_its_citations_survive() -> None:
    from langchain.agents import create_agent

    tool = as_tool(Shelf())
    call = ToolCall(name=tool.name, args={"query": "pump"}, id="c1", type="tool_call")
    model = scripted(AIMessage("", tool_calls=[call]), AIMessage("It weighs 12 kg [1]."))
    state = create_agent(model, [tool]).invoke({"messages": [HumanMessage("How heavy is it?")]})
    artifact = next(m.artifact for m in state["messages"] if m.type == "tool")
    answer = parse_citations(state["messages"][-1].content, artifact)
    assert answer.citations[0].source == "a.md"


def test_the_middleware_answers_from_evidence_and_keeps_sources_and_answer_in_the_state() -> None:
    from langchain.agents import create_agent

    agent = create_agent(scripted(AIMessage(TEXT)), middleware=[rag_middleware(Shelf(), verifier=Verifier())])
    state = agent.invoke({"messages": [HumanMessage("How heavy is it?")]})
    assert state["messages"][-1].content == CLEAN
    assert [source["id"] for source in state["sources"]] == ["d1:50-79", "d2:0-39"]
    answer = Answer.from_json(json.dumps(state["answer"]))
    assert answer.question == "How heavy is it?"
    assert answer.citations[0].quote == DOCUMENTS[0].page_content
    assert answer.verdicts


async def test_the_middleware_works_asynchronously() -> None:
    from langchain.agents import create_agent

    agent = create_agent(scripted(AIMessage(TEXT)), middleware=[rag_middleware(Shelf())])
    state = await agent.ainvoke({"messages": [HumanMessage("How heavy is it?")]})
    assert state["messages"][-1].content == CLEAN


def test_the_middleware_asks_no_model_when_nothing_was_found() -> None:
    from langchain.agents import create_agent

    agent = create_agent(scripted(), middleware=[rag_middleware(Shelf(documents=[]))])
    state = agent.invoke({"messages": [HumanMessage("What is the capital of Mongolia?")]})
    assert "enough information" in state["messages"][-1].content
    assert state["answer"]["abstained"]
    assert state["answer"]["citations"] == []


@pytest.mark.parametrize(
    "output",
    [
        {"answer": TEXT, "context": DOCUMENTS},
        {"result": TEXT, "source_documents": DOCUMENTS},
        {"output": AIMessage(TEXT), "documents": DOCUMENTS},
    ],
)
def test_any_chain_with_text_and_documents_can_be_verified(output: dict[str, Any]) -> None:
    answer = verified(RunnableLambda(lambda _: output)).invoke({"input": "How heavy?"})
    assert answer.text == CLEAN
    assert answer.question == "How heavy?"
    assert [verdict.label for verdict in answer.verdicts] == ["supported", "supported"]


def test_a_chain_that_yields_only_text_takes_the_documents_of_its_input() -> None:
    chain = RunnablePassthrough.assign(x=lambda _: 1) | (lambda _: AIMessage("The MX-400 pump weighs 12 kg."))
    answer = verified(chain).invoke({"question": "How heavy?", "documents": DOCUMENTS})
    assert answer.citations[0].scope == "attributed"


def test_the_guard_can_refuse_unsupported_claims() -> None:
    chain = RunnableLambda(lambda _: {"answer": "The pump weighs 99 kg [1].", "documents": DOCUMENTS})
    with pytest.raises(UnsupportedClaimsError):
        verified(chain, verifier=Verifier(on_unsupported="raise")).invoke("q")


async def test_the_guard_works_asynchronously() -> None:
    chain = RunnableLambda(lambda _: {"answer": TEXT, "documents": DOCUMENTS})
    assert (await verified(chain).ainvoke("q")).text == CLEAN


def test_a_chain_without_text_or_documents_is_told_what_is_missing() -> None:
    with pytest.raises(ConfigError, match="text"):
        verified(RunnableLambda(lambda _: {"x": 1})).invoke("q")
    with pytest.raises(ConfigError, match="documents"):
        verified(RunnableLambda(lambda _: "text")).invoke("q")


def test_a_conversation_keeps_answers_that_can_be_reloaded() -> None:
    asked: list[Any] = []

    def answer(state: dict[str, Any]) -> Answer:
        asked.append(state["question"])
        return parse_citations(TEXT, DOCUMENTS, question=state["question"])

    sessions = {"s": Memory()}
    chain = with_history(RunnableLambda(answer), sessions.__getitem__)
    config = {"configurable": {"session_id": "s"}}
    chain.invoke("How heavy is the MX-400?", config)
    chain.invoke("And when are invoices due?", config)
    assert asked == ["How heavy is the MX-400?", "How heavy is the MX-400? And when are invoices due?"]
    assert [m.type for m in sessions["s"].messages] == ["human", "ai", "human", "ai"]
    stored = json.dumps(sessions["s"].messages[1].additional_kwargs["answer"])
    assert Answer.from_json(stored).citations[1].quote == DOCUMENTS[1].page_content
    with pytest.raises(ConfigError, match="session"):
        chain.invoke("q")


@pytest.mark.parametrize("text", ["", " \n", "[1]", "[7]"])
def test_a_text_without_words_is_an_abstention(text: str) -> None:
    answer = parse_citations(text, DOCUMENTS, question="How heavy?")
    assert (answer.abstained, answer.abstention_reason) == (True, "model_declined")


def test_an_answer_parsed_by_hand_has_a_confidence() -> None:
    right, wrong = "The MX-400 pump weighs 12 kg [1].", "The MX-400 pump weighs 99 kg [1]."
    asked = {"question": "How heavy is the MX-400 pump?", "verifier": Verifier()}
    sure, unsure = (parse_citations(text, DOCUMENTS, **asked).confidence for text in (right, wrong))
    assert 0 < unsure < sure < 1
    assert parse_citations(right, DOCUMENTS).confidence is None


@pytest.mark.parametrize("text", ["x", "[]", "{}", '{"question": "q"}', '{"question": "q", "text": "t", "trace": 3}'])
def test_what_is_no_answer_is_not_reloaded(text: str) -> None:
    with pytest.raises(ConfigError, match="answer's JSON"):
        Answer.from_json(text)
