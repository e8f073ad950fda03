"""What synthesizers share: the Draft they give, its events when streamed, and how raw text becomes a Draft."""

from __future__ import annotations

import re
import time
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import run_in_executor
from pydantic import ConfigDict, Field

from rag_app.answer import ABSTENTION, CONFLICT_WARNING
from rag_app.cite import Bound, ParsedText, attribute, bind, claims, make_citation, parse_markers, resolve
from rag_app.cite.place import place_of
from rag_app.cite.segments import is_question
from rag_app.synthesize.conflicts import disagreement
from rag_app.synthesize.events import Abstained, CitationFound, DraftDone, Event, Retraction, Sentence, Token, Usage
from rag_app.synthesize.relevance import Unit, units_of
from rag_app.trace import RetrievalTrace, trace_of
from rag_app.types import Citation, ConfigError, Span

NO_EVIDENCE = ABSTENTION

BREAK = "\n\n"
_ENDS = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*(?:\s?\[\d{1,4}\]){0,9}[.。]?\s*$|\n$")


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before its claims are verified. `evidence[n - 1]` is what the marker `[n]` of `text` names.

    An abstaining draft has a reason of `rag_app.answer.ABSTENTION_REASONS` and no citations. `confidence` in [0, 1] is
    the calibrated chance that the evidence answers the question, None when nothing estimates it; where a model wrote
    the text (`written`), its verdicts have their say too (`confidence.how_sure`). `trace` is that of the evidence, with
    what the packing left out.
    """

    question: str
    text: str
    citations: tuple[Citation, ...] = ()
    phantoms: tuple[str, ...] = ()
    evidence: tuple[Document, ...] = ()
    abstained: bool = False
    abstention_reason: str | None = None
    warnings: tuple[str, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = None
    seconds: float = 0.0
    trace: RetrievalTrace | None = None
    written: bool = False


class Synthesizer(RunnableSerializable[dict[str, Any], Draft]):
    """Writes an answer from numbered evidence, or abstains.

    The input is `{"question": str, "evidence": Sequence[Document], "history"?: list[BaseMessage]}`; other keys of the
    chain's state ("candidates", "filter") help to say why there is no evidence.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())

    name: str | None = Field(default=None, exclude=True)
    abstention_text: str = Field(default=NO_EVIDENCE, description="What an abstaining answer says.")
    on_conflict: Literal["answer", "abstain"] = Field(
        default="answer", description="When sources disagree: answer with both versions and a note, or abstain."
    )

    @abstractmethod
    def draft(self, inputs: Mapping[str, Any]) -> Draft:
        """The draft for checked inputs with some evidence."""

    async def adraft(self, inputs: Mapping[str, Any]) -> Draft:
        """The same, where the network is waited for."""
        return await run_in_executor(None, self.draft, inputs)

    def invoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Draft:
        """The draft; without evidence an abstention, and no model is asked."""
        return self._call_with_config(self._timed, input, config, run_type="chain", **kwargs)

    async def ainvoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Draft:
        """The same as `invoke`."""
        return await self._acall_with_config(self._atimed, input, config, run_type="chain", **kwargs)

    def stream_draft(self, inputs: dict[str, Any], config: RunnableConfig | None = None) -> Iterator[Event]:
        """The draft as events; the last is `DraftDone`. No half marker and no phantom is in any of them."""
        yield from draft_events(self.invoke(inputs, config))

    async def astream_draft(self, inputs: dict[str, Any], config: RunnableConfig | None = None) -> AsyncIterator[Event]:
        """The same as `stream_draft`."""
        for event in draft_events(await self.ainvoke(inputs, config)):
            yield event

    def _timed(self, inputs: dict[str, Any]) -> Draft:
        start = time.perf_counter()
        check_inputs(inputs)
        missing = self.without_evidence(inputs)
        draft = missing if missing is not None else self.draft(inputs)
        return replace(draft, seconds=time.perf_counter() - start)

    async def _atimed(self, inputs: dict[str, Any]) -> Draft:
        start = time.perf_counter()
        check_inputs(inputs)
        missing = self.without_evidence(inputs)
        draft = missing if missing is not None else await self.adraft(inputs)
        return replace(draft, seconds=time.perf_counter() - start)

    def without_evidence(self, inputs: Mapping[str, Any]) -> Draft | None:
        """The abstention when there is nothing to answer from, None when there is."""
        if any(document.page_content.strip() for document in inputs["evidence"]):
            return None
        return self.abstain(inputs["question"], why_no_evidence(inputs))

    def abstain(self, question: str, reason: str, **more: Any) -> Draft:
        """An abstaining draft; without evidence that could answer, its confidence is 0."""
        more = {"confidence": 0.0, **more}
        return Draft(question, self.abstention_text, abstained=True, abstention_reason=reason, **more)

    def withdraw(self, draft: Draft, reason: str, **more: Any) -> Draft:
        """The abstention in place of a draft that has a text."""
        return replace(draft, text=self.abstention_text, citations=(), abstained=True, abstention_reason=reason, **more)

    def settle(self, draft: Draft) -> Draft:
        """The draft, with both versions cited and a note where sources disagree; or the abstention in its place."""
        if draft.abstained:
            return draft
        cited = [Unit(c.marker, Span(0, len(c.quote)), c.quote) for c in draft.citations]
        found = disagreement(draft.question, cited, units_of(draft.evidence), draft.evidence)
        if found is None:
            return draft
        one, other = found
        warnings = (*draft.warnings, f"{CONFLICT_WARNING}: [{one.number}] and [{other.number}]")
        if self.on_conflict == "abstain":
            return self.withdraw(draft, "sources_conflict", warnings=warnings)
        pieces = [draft.text]
        citations = draft.citations
        if all((unit.number, unit.text) != (other.number, other.text) for unit in cited):
            pieces.append(f"{shown(other.text)} [{other.number}]")
            citations = (*citations, citation_of(other, draft.evidence[other.number - 1]))
        pieces.append(f"The sources disagree [{one.number}][{other.number}].")
        return replace(draft, text=joined(pieces), citations=citations, warnings=warnings)


def joined(sentences: Sequence[str]) -> str:
    """Cited sentences as a text. One without an end mark stands alone: with the next one it would be one claim."""
    text = ""
    for sentence in sentences:
        goes_on = _ENDS.search(text) is not None and not sentence[0].islower()
        text += sentence if not text else f"{' ' if goes_on else BREAK}{sentence}"
    return text


def shown(text: str) -> str:
    """A sentence as the answer shows it: on one line, without brackets that would read as markers of ours."""
    return parse_markers(" ".join(text.split()), 0).text


def citation_of(unit: Unit, document: Document) -> Citation:
    """The citation of a sentence that is quoted verbatim."""
    place = place_of(document, unit.number)
    return Citation(
        marker=unit.number,
        chunk_id=place.chunk_id,
        source=place.source,
        page=place.page,
        section_path=place.section_path,
        span=unit.span.shift(place.start),
        quote=unit.text,
    )


def check_inputs(inputs: Mapping[str, Any]) -> None:
    """ConfigError when the question or the evidence is missing."""
    question, evidence = inputs.get("question"), inputs.get("evidence")
    if not isinstance(question, str) or not question.strip():
        raise ConfigError(f"the synthesizer's question is {question!r}; hand it a question under the key 'question'")
    if not isinstance(evidence, Sequence) or not all(isinstance(passage, Document) for passage in evidence):
        kind = type(evidence).__name__
        raise ConfigError(
            f"the synthesizer's evidence is a {kind}; hand it a list of Documents under the key 'evidence'"
        )


def why_no_evidence(inputs: Mapping[str, Any]) -> str:
    """The typed reason for empty evidence, read from the trace: a filter, a threshold, or nothing found at all."""
    evidence, candidates = inputs["evidence"], inputs.get("candidates")
    rules = {removal.rule for removal in trace_of(evidence).removed}
    if candidates or "below threshold" in rules:
        return "below_threshold"
    if inputs.get("filter") or "filtered" in rules:
        return "filter_matched_nothing"
    return "no_candidates"


def draft_of(
    question: str,
    raw: str,
    evidence: Sequence[Document],
    *,
    attribute_uncited: float | None = None,
    warnings: Sequence[str] = (),
    **more: Any,
) -> Draft:
    """The draft of a raw text: phantoms stripped, each marker resolved to an exact quote.

    With `attribute_uncited`, a text that cites nothing gets citations by alignment where coverage reaches that share;
    they are marked `scope="attributed"`.
    """
    parsed = parse_markers(raw, len(evidence))
    bound = bind(parsed)
    citations = resolve(bound, evidence)
    if attribute_uncited is not None and not parsed.markers and evidence:
        parsed, citations = attributed(parsed, bound, evidence, floor=attribute_uncited)
    notes = list(warnings)
    if parsed.phantoms:
        names = ", ".join(f"[{phantom}]" for phantom in parsed.phantoms)
        notes.append(f"the model cited sources that do not exist: {names}; the markers were removed")
    return Draft(
        question, parsed.text, tuple(citations), parsed.phantoms, tuple(evidence), warnings=tuple(notes), **more
    )


def attributed(
    parsed: ParsedText, bound: Sequence[Bound], evidence: Sequence[Document], *, floor: float
) -> tuple[ParsedText, list[Citation]]:
    """The text with a marker set behind each clause that some evidence covers, and the citations of those markers."""
    pieces: list[str] = []
    citations: list[Citation] = []
    position = 0
    for clause in bound:
        if clause.kind in ("heading", "definition") or is_question(clause.words):
            continue
        number = attribute(clause.words, evidence, floor=floor)
        if number is None:
            continue
        end = clause.span.end
        if parsed.text[end - 1] in ".!?。！？":
            end -= 1
        pieces += [parsed.text[position:end], "" if not parsed.text[end - 1].isascii() else " ", f"[{number}]"]
        position = end
        citations.append(make_citation(number, clause.words, evidence[number - 1], scope="attributed"))
    marked = parse_markers("".join([*pieces, parsed.text[position:]]), len(evidence))
    return ParsedText(marked.text, marked.markers, parsed.phantoms), citations


def draft_events(draft: Draft) -> Iterator[Event]:
    """A finished draft as the events of a stream."""
    if not draft.abstained:
        yield Token(draft.text)
    yield from closing_events(draft)


def closing_events(draft: Draft) -> Iterator[Event]:
    """What follows the text of a draft: its abstention, or its claims and citations; then the usage and the draft."""
    if draft.abstained:
        yield Abstained(draft.abstention_reason or "model_declined", draft.text)
    else:
        parsed = parse_markers(draft.text, len(draft.evidence))
        for claim in claims(bind(parsed)):
            yield Sentence(claim.text, claim.span, claim.citations)
        for citation in draft.citations:
            yield CitationFound(citation)
    if draft.usage:
        yield Usage(dict(draft.usage))
    yield DraftDone(draft)


__all__ = [
    "NO_EVIDENCE",
    "Abstained",
    "CitationFound",
    "Draft",
    "DraftDone",
    "Event",
    "Retraction",
    "Sentence",
    "Synthesizer",
    "Token",
    "attributed",
    "check_inputs",
    "closing_events",
    "draft_events",
    "draft_of",
    "why_no_evidence",
]
