"""Conversations with the chain: LangChain's RunnableWithMessageHistory and a LangGraph state keep whole answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import Field

from rag_app.answer import Answer
from rag_app.integrate import answer_message
from rag_app.pipeline import build_chain, build_index
from rag_app.settings import Settings

REPLIES = ["The warranty is 24 months [1].", "The filter is changed every June [1]."]
QUESTIONS = ["How long is the warranty of the pump?", "When is the filter of the pump changed?"]


class Recording(GenericFakeChatModel):
    """A scripted model that keeps what it was asked."""

    asked: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **more: Any) -> Any:
        self.asked.append(messages)
        return super()._generate(messages, *args, **more)


class Memory(BaseChatMessageHistory):
    """A session that lives as long as the test."""

    def __init__(self) -> None:
        self.messages: list[BaseMessage] = []

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self.messages += messages

    def clear(self) -> None:
        self.messages = []


@pytest.fixture
def model() -> Recording:
    return Recording(messages=iter([AIMessage(reply) for reply in REPLIES]))


@pytest.fixture
def chain(model: Recording, tmp_path: Path) -> Runnable[Any, Answer]:
    (tmp_path / "pump.txt").write_text("The warranty is 24 months.\n\nThe filter is changed every June.\n")
    settings = Settings.resolve(None, ["embed.kind=hashing", "rerank.kind=none", "synthesize.kind=llm"])
    index, _ = build_index(settings, [tmp_path / "pump.txt"], tmp_path / "index")
    return build_chain(settings, index, chat_model=model)


def reloaded(message: BaseMessage) -> Answer:
    """The Answer that a stored message carries, after a round trip through JSON."""
    return Answer.from_json(json.dumps(message.additional_kwargs["answer"]))


def check_second_turn(messages: list[Any], model: Recording) -> None:
    """Both turns are kept, the model saw the first one in the second, and every stored citation holds."""
    assert [message.type for message in messages] == ["human", "ai", "human", "ai"]
    assert [message.content for message in messages[1::2]] == REPLIES
    said = [message.content for message in model.asked[1]]
    assert QUESTIONS[0] in said
    assert REPLIES[0].replace(" [1]", "") in said  # its markers number the passages of that turn, not of this one
    assert [reloaded(message).citations[0].quote for message in messages[1::2]] == [
        "The warranty is 24 months.",
        "The filter is changed every June.",
    ]


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_runnable_with_message_history_keeps_answers(chain: Runnable[Any, Answer], model: Recording) -> None:
    sessions: dict[str, Memory] = {}
    conversation = RunnableWithMessageHistory(
        chain | RunnableLambda(lambda answer: {"answer": answer, "message": answer_message(answer)}),
        lambda session_id: sessions.setdefault(session_id, Memory()),
        input_messages_key="question",
        history_messages_key="history",
        output_messages_key="message",
    )
    config: Any = {"configurable": {"session_id": "a"}}
    for question, reply in zip(QUESTIONS, REPLIES, strict=True):
        assert conversation.invoke({"question": question}, config)["answer"].text == reply
    check_second_turn(sessions["a"].messages, model)


class State(TypedDict):
    """The state of the graph: the conversation, whose replies carry their answers."""

    messages: Annotated[list[AnyMessage], add_messages]


def test_a_langgraph_state_keeps_answers(chain: Runnable[Any, Answer], model: Recording) -> None:
    def reply(state: State) -> dict[str, Any]:
        *history, last = state["messages"]
        return {"messages": [answer_message(chain.invoke({"question": last.content, "history": history}))]}

    graph: Any = StateGraph(State)
    graph.add_node("answer", reply)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    app = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "a"}}
    for question in QUESTIONS:
        app.invoke({"messages": [HumanMessage(question)]}, config)
    check_second_turn(app.get_state(config).values["messages"], model)
