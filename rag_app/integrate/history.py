"""Follow-up questions: a conversation's history makes a question stand alone, and Answers go into the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from rag_app.answer import Answer
from rag_app.synthesize.replies import message_text
from rag_app.types import ConfigError

_CONDENSE = (
    "Rewrite the last question so that it can be understood without the conversation. Keep its language. "
    "Return the question only; if it already stands alone, return it unchanged."
)


def standalone(question: str, history: Sequence[BaseMessage], chat_model: BaseChatModel | None) -> str:
    """The question as one that needs no conversation, rewritten by the model.

    Without a model the last question is put before it, so that its words take part in the search.
    """
    if not history:
        return question
    if chat_model is not None:
        asked = [SystemMessage(_CONDENSE), *history, HumanMessage(question)]
        return message_text(chat_model.invoke(asked)).strip() or question
    last = next((message_text(m) for m in reversed(history) if isinstance(m, HumanMessage)), "")
    return f"{last} {question}".strip()


def answer_message(answer: Answer) -> AIMessage:
    """The answer as a message of a conversation, with the whole Answer under `additional_kwargs["answer"]`.

    For `RunnableWithMessageHistory` and LangGraph states; `Answer.from_json(json.dumps(...))` reads it back.
    """
    return AIMessage(answer.text, additional_kwargs={"answer": answer.to_dict()})


def with_history(
    chain: Runnable[Any, Answer],
    get_session_history: Callable[[str], BaseChatMessageHistory],
    *,
    chat_model: BaseChatModel | None = None,
) -> Runnable[Any, Answer]:
    """The chain as a conversation: `.invoke(question, {"configurable": {"session_id": "..."}})`.

    Follow-ups are made to stand alone before retrieval; question and answer are added to the session's history, the
    answer with its Answer as JSON values under `additional_kwargs["answer"]`, so that citations stay valid on reload.
    """

    def converse(input: str | Mapping[str, Any], config: RunnableConfig) -> Answer:
        question = input if isinstance(input, str) else str(input["question"])
        session = (config.get("configurable") or {}).get("session_id")
        if not session:
            raise ConfigError("a conversation needs a session; invoke with {'configurable': {'session_id': '...'}}")
        history = get_session_history(session)
        past = list(history.messages)
        state = {} if isinstance(input, str) else dict(input)
        answer = chain.invoke({**state, "question": standalone(question, past, chat_model), "history": past}, config)
        history.add_messages([HumanMessage(question), answer_message(answer)])
        return answer

    return RunnableLambda(converse, name="conversation")
