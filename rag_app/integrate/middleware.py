"""Two-step RAG inside `create_agent`: retrieve first, answer from numbered evidence, cite and check afterwards."""

from __future__ import annotations

import secrets
from typing import Any, NotRequired

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever

from rag_app.integrate.parser import parse_citations
from rag_app.synthesize.base import NO_EVIDENCE
from rag_app.synthesize.packing import pack
from rag_app.synthesize.prompt import SYSTEM, format_evidence
from rag_app.synthesize.replies import message_text
from rag_app.synthesize.safety import quarantine
from rag_app.verify import Verifier


def rag_middleware(
    retriever: BaseRetriever, *, verifier: Verifier | None = None, evidence_tokens: int | None = 6000
) -> Any:
    """A middleware for `langchain.agents.create_agent(model, middleware=[...])`.

    Before the agent runs it retrieves for the last human message and keeps the passages in the state under `sources`
    (plain JSON, so that any checkpointer takes them); the model sees them numbered, inside random delimiters. When the
    agent is done, phantoms are stripped from its last message and the state has the Answer under `answer`
    (`Answer.from_json(json.dumps(...))` takes it back). With no passages the model is not asked.
    """

    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelResponse

    class RagState(AgentState[Any]):
        """The agent's state with the passages of this turn and the Answer."""

        sources: NotRequired[list[dict[str, Any]]]
        answer: NotRequired[dict[str, Any]]

    class RagMiddleware(AgentMiddleware[Any, Any, Any]):
        """Evidence before the model, citations after it."""

        state_schema = RagState

        def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"sources": _pack(retriever.invoke(_question(state)), evidence_tokens)}

        async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"sources": _pack(await retriever.ainvoke(_question(state)), evidence_tokens)}

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            documents = _documents(request.state)
            if not documents:
                return ModelResponse(result=[AIMessage(NO_EVIDENCE)])
            return handler(request.override(system_message=_system(request.system_message, documents)))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            documents = _documents(request.state)
            if not documents:
                return ModelResponse(result=[AIMessage(NO_EVIDENCE)])
            return await handler(request.override(system_message=_system(request.system_message, documents)))

        def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
            last = state["messages"][-1]
            if not isinstance(last, AIMessage):
                return None
            documents = _documents(state)
            answer = parse_citations(
                message_text(last), documents, question=_question(state), verifier=verifier, attribute=True
            )
            return {"answer": answer.to_dict(), "messages": [last.model_copy(update={"content": answer.text})]}

    return RagMiddleware()


def _question(state: Any) -> str:
    messages: list[BaseMessage] = state["messages"]
    return next((message_text(m) for m in reversed(messages) if isinstance(m, HumanMessage)), "")


def _pack(documents: list[Document], budget: int | None) -> list[dict[str, Any]]:
    return [
        {"id": d.id, "page_content": d.page_content, "metadata": {k: v for k, v in d.metadata.items() if k != "stages"}}
        for d in pack(documents, budget=budget)
    ]


def _documents(state: Any) -> list[Document]:
    return [Document(**source) for source in state.get("sources") or ()]


def _system(system: SystemMessage | None, documents: list[Document]) -> SystemMessage:
    delimiter = secrets.token_hex(4)
    rules = SYSTEM.replace("{delimiter}", delimiter).replace("{abstention}", NO_EVIDENCE)
    evidence = format_evidence(quarantine(documents).evidence, delimiter)
    before = f"{message_text(system)}\n\n" if system is not None else ""
    return SystemMessage(f"{before}{rules}\n\n{evidence}")
