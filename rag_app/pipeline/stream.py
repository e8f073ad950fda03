"""An answer as it comes: typed events from retrieval to verdicts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig

from rag_app.answer import Answer
from rag_app.pipeline.build import Stages
from rag_app.pipeline.chain import Question, decided, evidence_chain, find, located, to_answer
from rag_app.synthesize.events import CitationFound, DraftDone, Event, Retraction
from rag_app.types import ConfigError, Hit, Verdict


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The evidence is found: `hits` in order, before a word is written."""

    hits: tuple[Hit, ...]
    type: str = "retrieval"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts on the finished text."""

    verdicts: tuple[Verdict, ...]
    type: str = "verdicts"


@dataclass(frozen=True, slots=True)
class Done:
    """The finished Answer; always the last event."""

    answer: Answer
    type: str = "done"


AnswerEvent = Retrieved | Event | Verdicts | Done


def stream_answer(stages: Stages, question: Question, config: RunnableConfig | None = None) -> Iterator[AnswerEvent]:
    """The answer as typed events: retrieval, tokens, sentences, citations, verdicts, usage, done.

    Joined, the texts of the tokens are the answer's text, unless a retraction replaced it or it abstains.
    """
    state = evidence_chain(_checked(stages, "stream_answer")).invoke(question, config)
    yield Retrieved(hits_of(state["evidence"]))
    for event in stages.synthesizer.stream_draft(state, config):
        if isinstance(event, DraftDone):
            state["draft"] = located(stages, event.draft)
        else:
            yield CitationFound(find(stages, event.citation)) if isinstance(event, CitationFound) else event
    state["verdicts"] = stages.verifier.invoke(state, config)
    yield from last_events(stages, state)


async def astream_answer(
    stages: Stages, question: Question, config: RunnableConfig | None = None
) -> AsyncIterator[AnswerEvent]:
    """The same as `stream_answer`."""
    state = await evidence_chain(_checked(stages, "astream_answer")).ainvoke(question, config)
    yield Retrieved(hits_of(state["evidence"]))
    async for event in stages.synthesizer.astream_draft(state, config):
        if isinstance(event, DraftDone):
            state["draft"] = located(stages, event.draft)
        else:
            yield CitationFound(find(stages, event.citation)) if isinstance(event, CitationFound) else event
    state["verdicts"] = await stages.verifier.ainvoke(state, config)
    for event in last_events(stages, state):
        yield event


def _checked(stages: Stages, name: str) -> Stages:
    """The stages; ConfigError for anything else, such as the chain over them."""
    if isinstance(stages, Stages):
        return stages
    raise ConfigError(
        f"{name}(stages, question) got a {type(stages).__name__} for the stages; give it those of "
        "build_stages(settings, index)"
    )


def last_events(stages: Stages, state: Mapping[str, Any]) -> Iterator[AnswerEvent]:
    """What follows the text: a retraction when a policy or the threshold changed it, the verdicts, the Answer."""
    answer = to_answer({**state, "draft": decided(stages, state)})
    if answer.text != state["draft"].text:
        yield Retraction(answer.text, "; ".join(state["verdicts"].actions) or answer.abstention_reason or "tidied")
    yield Verdicts(answer.verdicts)
    yield Done(answer)


def hits_of(evidence: Sequence[Document]) -> tuple[Hit, ...]:
    """The evidence in order, scored by its last stage."""
    return tuple(
        Hit(str(document.id), float(document.metadata.get("relevance_score") or 0.0), place)
        for place, document in enumerate(evidence, start=1)
    )
