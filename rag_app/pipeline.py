"""Settings and stages put together: nothing but composition.

```python
settings = Settings()
index, report = build_index(settings, ["docs"], "docs.index")
answer = build_chain(settings, index).invoke("How long is the warranty?")
```
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnablePassthrough

from rag_app.answer import Answer, Passage
from rag_app.embed.base import Embedder
from rag_app.index import LocalIndex
from rag_app.ingest import IngestReport, ingest
from rag_app.settings import Settings
from rag_app.synthesize.base import Draft, draft_of
from rag_app.synthesize.events import DraftDone, Event, Retraction
from rag_app.trace import trace_of
from rag_app.types import ConfigError, Hit, Verdict
from rag_app.verify.report import VerificationReport

Progress = Callable[[int, int, str], None]
Question = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stages:
    """The question side of a pipeline, each stage bound to its index and models; each is useful by itself."""

    retriever: BaseRetriever
    reranker: Any
    expander: Any
    synthesizer: Any
    verifier: Any


def build_splitter(settings: Settings, embedder: Embedder) -> Any:
    """The settings' splitter, with the embedder's tokenizer as its ruler and the embedder for semantic cuts."""
    return settings.split.bind(count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens, embeddings=embedder)


def build_index(
    settings: Settings,
    paths: Sequence[str | Path],
    directory: str | Path,
    *,
    sync: bool = False,
    progress: Progress | None = None,
) -> tuple[LocalIndex, IngestReport]:
    """Load, split, embed and index `paths` into the folder `directory`, made when it is not there.

    Unchanged documents are skipped, changed ones replaced; with `sync`, documents whose file vanished are deleted. Files
    that cannot be loaded are in the report's `failed`; the others go on.
    """
    index = open_or_create(settings, directory)
    loaded = settings.load.load_all([str(path) for path in paths], progress=progress)
    report = ingest(index, loaded, build_splitter(settings, index.embedder), sync=sync, progress=progress)
    return index, report


def open_or_create(settings: Settings, directory: str | Path) -> LocalIndex:
    """The index at `directory`, checked against the settings; a new one where there is none."""
    if LocalIndex.exists(directory):
        return open_index(settings, directory)
    return LocalIndex.create(directory, embedder=settings.embed, settings=settings.index)


def open_index(settings: Settings, directory: str | Path) -> LocalIndex:
    """The index at `directory`; IndexMissingError when there is none, IndexMismatchError when the settings disagree."""
    return LocalIndex.open(directory, embedder=settings.embed)


def build_stages(settings: Settings, index: LocalIndex, *, chat_model: Any = None) -> Stages:
    """Each stage of the question side, bound to the index; `chat_model` serves every stage that asks one."""
    embedder = index.embedder
    return Stages(
        retriever=bind(settings.retrieve, index=index, chat_model=chat_model),
        reranker=bind(settings.rerank, embeddings=embedder, chat_model=chat_model),
        expander=bind(settings.expand, index=index),
        synthesizer=bind(settings.synthesize, embeddings=embedder, chat_model=chat_model),
        verifier=bind(settings.verify, chat_model=chat_model),
    )


def bind(component: Any, **runtime: Any) -> Any:
    """A copy of the component with those runtime objects that it has fields for; a None changes nothing."""
    known = type(component).model_fields
    return component.model_copy(update={k: v for k, v in runtime.items() if k in known and v is not None})


# ------------------------------------------------------------------------------------------------------------ the chain


def build_chain(settings: Settings, index: LocalIndex, *, chat_model: Any = None) -> Runnable[Question, Answer]:
    """Question in, Answer out: retrieve, rerank, expand, synthesize, verify.

    The input is the question, or `{"question", "filter"?, "k"?, "history"?}`. A question that cannot be answered from the
    evidence gives an abstained Answer, not an error.
    """
    return chain_of(build_stages(settings, index, chat_model=chat_model))


def chain_of(stages: Stages) -> Runnable[Question, Answer]:
    """The chain over given stages; any foreign object of the same LangChain type may stand in for one of ours."""
    return (
        evidence_chain(stages)
        | RunnablePassthrough.assign(draft=stages.synthesizer)
        | RunnablePassthrough.assign(verdicts=stages.verifier)
        | RunnableLambda(to_answer, name="answer")
    ).with_config(run_name="rag_app")


def evidence_chain(stages: Stages) -> Runnable[Question, dict[str, Any]]:
    """The first half: question in, the state with `candidates` and `evidence` out."""
    return (
        RunnableLambda(as_inputs, name="question")
        | RunnablePassthrough.assign(candidates=retrieve_with(stages.retriever))
        | RunnablePassthrough.assign(evidence=rerank_with(stages.reranker) | RunnableLambda(stages.expander.expand))
    )


def as_inputs(question: Question) -> dict[str, Any]:
    """The chain's state from what a person gives; ConfigError when there is no question in it."""
    inputs = {"question": question} if isinstance(question, str) else dict(question)
    text = inputs.get("question")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"the question is {text!r}; ask one, as a string or under the key 'question'")
    unknown = set(inputs) - {"question", "filter", "k", "history"}
    if unknown:
        raise ConfigError(f"the input has unknown keys {sorted(unknown)}; known: question, filter, k, history")
    return inputs


def retrieve_with(retriever: BaseRetriever) -> Runnable[dict[str, Any], list[Document]]:
    """The retriever over the chain's state: the question, with the filter and k of this call when there are any."""

    def options(state: Mapping[str, Any]) -> dict[str, Any]:
        return {key: state[key] for key in ("filter", "k") if state.get(key) is not None}

    def retrieve(state: dict[str, Any], config: RunnableConfig) -> list[Document]:
        return retriever.invoke(state["question"], config, **options(state))

    async def aretrieve(state: dict[str, Any], config: RunnableConfig) -> list[Document]:
        return await retriever.ainvoke(state["question"], config, **options(state))

    return RunnableLambda(retrieve, aretrieve, name="retrieve")


def rerank_with(reranker: Any) -> Runnable[dict[str, Any], Sequence[Document]]:
    """The reranker (any BaseDocumentCompressor) over the chain's state."""

    def rerank(state: dict[str, Any]) -> Sequence[Document]:
        return list_or_ranked(reranker.compress_documents(state["candidates"], state["question"]))

    async def arerank(state: dict[str, Any]) -> Sequence[Document]:
        return list_or_ranked(await reranker.acompress_documents(state["candidates"], state["question"]))

    return RunnableLambda(rerank, arerank, name="rerank")


def list_or_ranked(documents: Sequence[Document]) -> Sequence[Document]:
    """A foreign compressor may hand on any sequence; the chain wants a list, and keeps a trace where there is one."""
    return documents if isinstance(documents, list) else list(documents)


def to_answer(state: Mapping[str, Any]) -> Answer:
    """The Answer of a finished run; nothing is computed here, only put together."""
    report = state["verdicts"]
    draft = after_policy(state["draft"], report)
    trace = trace_of(state["evidence"], state["question"])
    return Answer(
        question=state["question"],
        text=draft.text,
        citations=draft.citations,
        verdicts=report.verdicts,
        trace=trace,
        evidence=tuple(passage(number, document) for number, document in enumerate(draft.evidence, start=1)),
        abstained=draft.abstained,
        abstention_reason=draft.abstention_reason,
        warnings=(*trace.warnings, *draft.warnings, *report.warnings),
        phantoms=draft.phantoms,
        usage=draft.usage,
        timings={**trace.timings, "synthesize": draft.seconds, "verify": report.seconds},
        confidence=draft.confidence,
        report=report.summary(),
    )


def after_policy(draft: Draft, report: VerificationReport) -> Draft:
    """The draft as the verifier's policy left it: its text, with the citations resolved again where the text changed."""
    if report.abstained and not draft.abstained:
        return replace(draft, text=report.text, citations=(), abstained=True, abstention_reason="claims_unsupported")
    if not report.actions or report.text == draft.text:
        return draft
    again = draft_of(draft.question, report.text, draft.evidence)
    return replace(draft, text=again.text, citations=again.citations)


def passage(number: int, document: Document) -> Passage:
    """A numbered piece of evidence as a record."""
    metadata = document.metadata
    start = int(metadata.get("start_index", 0))
    return Passage(
        number=number,
        chunk_id=str(document.id),
        source=str(metadata.get("source", "")),
        start=start,
        end=int(metadata.get("end_index", start + len(document.page_content))),
        text=document.page_content,
        title=metadata.get("title"),
        page=metadata.get("page"),
        section_path=tuple(metadata.get("section_path") or ()),
    )


# ------------------------------------------------------------------------------------------------------------ streaming


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

    Joined, the texts of the tokens are the answer's text, unless a retraction replaced it.
    """
    state = evidence_chain(stages).invoke(question, config)
    yield Retrieved(hits_of(state["evidence"]))
    for event in stages.synthesizer.stream_draft(state):
        if isinstance(event, DraftDone):
            state["draft"] = event.draft
        else:
            yield event
    state["verdicts"] = stages.verifier.invoke(state, config)
    yield from last_events(state)


async def astream_answer(
    stages: Stages, question: Question, config: RunnableConfig | None = None
) -> AsyncIterator[AnswerEvent]:
    """The same as `stream_answer`."""
    state = await evidence_chain(stages).ainvoke(question, config)
    yield Retrieved(hits_of(state["evidence"]))
    async for event in stages.synthesizer.astream_draft(state):
        if isinstance(event, DraftDone):
            state["draft"] = event.draft
        else:
            yield event
    state["verdicts"] = await stages.verifier.ainvoke(state, config)
    for event in last_events(state):
        yield event


def last_events(state: Mapping[str, Any]) -> Iterator[AnswerEvent]:
    """What follows the text: a retraction when a policy changed it, the verdicts, the Answer."""
    answer = to_answer(state)
    if answer.text != state["draft"].text:
        yield Retraction(answer.text, "; ".join(state["verdicts"].actions) or "claims_unsupported")
    yield Verdicts(answer.verdicts)
    yield Done(answer)


def hits_of(evidence: Sequence[Document]) -> tuple[Hit, ...]:
    """The evidence in order, scored by its last stage."""
    return tuple(
        Hit(str(document.id), float(document.metadata.get("relevance_score") or 0.0), place)
        for place, document in enumerate(evidence, start=1)
    )
