"""The question side: retrieve, rerank, expand, synthesize, verify, composed of LangChain Runnables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnablePassthrough

from rag_app.answer import Answer, Passage
from rag_app.cite import locate
from rag_app.cite.place import place_of
from rag_app.index import LocalIndex
from rag_app.pipeline.build import Stages, build_stages
from rag_app.settings import Settings
from rag_app.synthesize.base import Draft, draft_of
from rag_app.synthesize.confidence import how_sure
from rag_app.trace import RetrievalTrace, trace_of
from rag_app.types import Citation, ConfigError, read_chunk_id
from rag_app.verify.report import VerificationReport

Question = str | Mapping[str, Any]


def build_chain(settings: Settings, index: LocalIndex, *, chat_model: Any = None) -> Runnable[Question, Answer]:
    """Question in, Answer out: retrieve, rerank, expand, synthesize, verify.

    The input is the question, or `{"question", "filter"?, "k"?, "history"?}`. A question that cannot be answered
    from the evidence gives an abstained Answer, not an error.
    """
    return chain_of(build_stages(settings, index, chat_model=chat_model))


def chain_of(stages: Stages) -> Runnable[Question, Answer]:
    """The chain over given stages; any foreign object of the same LangChain type may stand in for one of ours."""
    return (
        evidence_chain(stages)
        | RunnablePassthrough.assign(draft=stages.synthesizer | RunnableLambda(partial(located, stages), name="locate"))
        | RunnablePassthrough.assign(verdicts=stages.verifier)
        | RunnablePassthrough.assign(draft=RunnableLambda(partial(decided, stages), name="decide"))
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
    inputs = dict(question) if isinstance(question, Mapping) else {"question": question}
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
    """The Answer of a finished run."""
    draft = state["draft"]
    return answer_of(draft, state["verdicts"], draft.trace or trace_of(state["evidence"], state["question"]))


def answer_of(draft: Draft, report: VerificationReport | None = None, trace: RetrievalTrace | None = None) -> Answer:
    """Draft, verification and trace in one Answer; nothing is computed here, only put together."""
    trace = trace if trace is not None else RetrievalTrace(draft.question)
    timings = {**trace.timings, "synthesize": draft.seconds}
    if report is not None:
        if draft.abstained and not report.abstained and report.text != draft.text:
            report = replace(report, withdrawn=report.text)
        draft = after_policy(draft, report)
        timings["verify"] = report.seconds
    return Answer(
        question=draft.question,
        text=draft.text,
        citations=draft.citations,
        verdicts=report.verdicts if report is not None else (),
        trace=trace,
        evidence=tuple(passage(number, document) for number, document in enumerate(draft.evidence, start=1)),
        abstained=draft.abstained,
        abstention_reason=draft.abstention_reason,
        warnings=(*trace.warnings, *draft.warnings, *(report.warnings if report is not None else ())),
        phantoms=draft.phantoms,
        usage=draft.usage,
        timings=timings,
        confidence=draft.confidence,
        report=report.summary() if report is not None else {},
    )


def located(stages: Stages, draft: Draft) -> Draft:
    """The draft whose citations stand on the page and in the section of their quotes."""
    return replace(draft, citations=tuple(find(stages, citation) for citation in draft.citations))


def decided(stages: Stages, state: Mapping[str, Any]) -> Draft:
    """The draft with how sure it is now that it was judged; where the verifier's policy withdrew it, or below the
    synthesizer's threshold, the abstention.
    """
    draft: Draft = state["draft"]
    report: VerificationReport = state["verdicts"]
    draft = replace(draft, confidence=how_sure(draft, report.verdicts))
    if report.withdrawn and not draft.abstained:
        text = getattr(stages.synthesizer, "abstention_text", report.text)
        return replace(draft, text=text, citations=(), abstained=True, abstention_reason="claims_unsupported")
    least = getattr(stages.synthesizer, "threshold", None)
    if draft.abstained or not draft.written or least is None or (draft.confidence or 0.0) >= least:
        return draft
    withdrawn: Draft = stages.synthesizer.withdraw(draft, "below_threshold")
    return withdrawn


def find(stages: Stages, citation: Citation) -> Citation:
    """The citation, located in its stored document; as it was when the index does not have that document."""
    place = read_chunk_id(citation.chunk_id)
    if stages.index is None or place is None:
        return citation
    try:
        return locate(citation, stages.index.document(place[0]))
    except KeyError:
        return citation


def after_policy(draft: Draft, report: VerificationReport) -> Draft:
    """The draft as the verifier's policy left it: a marker that still stands keeps its citation, a new one gets one."""
    if draft.abstained:
        return draft
    if report.abstained:
        return replace(draft, text=report.text, citations=(), abstained=True, abstention_reason="claims_unsupported")
    if not report.actions or report.text == draft.text:
        return draft
    again = draft_of(draft.question, report.text, draft.evidence)
    before = {citation.marker for citation in draft.citations}
    there = {citation.marker for citation in again.citations}
    kept = tuple(citation for citation in draft.citations if citation.marker in there)
    new = tuple(citation for citation in again.citations if citation.marker not in before)
    return replace(draft, text=again.text, citations=(*kept, *new))


def passage(number: int, document: Document) -> Passage:
    """A numbered piece of evidence as a record."""
    place = place_of(document, number)
    return Passage(
        number=number,
        chunk_id=place.chunk_id,
        source=place.source,
        start=place.start,
        end=place.start + len(document.page_content),
        text=document.page_content,
        title=place.title,
        page=place.page,
        section_path=place.section_path,
    )
