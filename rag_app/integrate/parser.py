"""A model's text and its documents become an Answer: for people who compose chains by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, BaseMessageChunk
from langchain_core.output_parsers import BaseTransformOutputParser
from langchain_core.outputs import Generation
from pydantic import ConfigDict, Field

from rag_app.answer import Answer
from rag_app.cite import StreamParser
from rag_app.pipeline.chain import answer_of
from rag_app.synthesize.base import NO_EVIDENCE, draft_of
from rag_app.synthesize.confidence import evidence_chance, how_sure
from rag_app.synthesize.replies import declines, message_text, says_something
from rag_app.verify import Verifier


def parse_citations(
    text: str,
    documents: Sequence[Document],
    *,
    question: str = "",
    verifier: Verifier | None = None,
    attribute: bool = False,
) -> Answer:
    """The Answer of a text whose markers number `documents` from 1: phantoms stripped, citations with exact quotes.

    With a `verifier`, its claims are judged, and the confidence rests on the verdicts too. With `attribute`, a text
    that cites nothing gets citations by alignment. Without a question nothing tells whether the documents answer it.
    """
    chance = evidence_chance(question, documents) if question.strip() else None
    draft = draft_of(
        question, text, documents, attribute_uncited=0.5 if attribute else None, confidence=chance, written=True
    )
    declined = not draft.citations and declines(draft.text, NO_EVIDENCE)
    if declined or not says_something(draft.text, len(documents)):
        draft = replace(draft, abstained=True, abstention_reason="model_declined")
    if verifier is None:
        return answer_of(draft)
    report = verifier.invoke({"draft": draft, "question": question})
    return answer_of(replace(draft, confidence=how_sure(draft, report.verdicts)), report)


class AnswerParser(BaseTransformOutputParser[Answer]):
    """An output parser from a model's text to an Answer over `documents`, which the markers number from 1.

    Streaming yields the Answer as it grows: cleaned text so far, never half a marker; the last one is the whole Answer,
    equal to that of `invoke`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    documents: list[Document] = Field(default_factory=list)
    question: str = ""
    verifier: Verifier | None = None

    @property
    def _type(self) -> str:
        return "rag_app_answer"

    def parse(self, text: str) -> Answer:
        return parse_citations(text, self.documents, question=self.question, verifier=self.verifier)

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Answer:
        return self.parse(result[0].text)

    def get_format_instructions(self) -> str:
        return (
            "Cite every factual sentence with the number of the passage it comes from, in square brackets: [1]. "
            "Several passages: [1][3]. Use no other numbers."
        )

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[Answer]:
        growing = _Growing(self)
        for chunk in input:
            yield from growing.feed(chunk)
        yield growing.whole()

    async def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[Answer]:
        growing = _Growing(self)
        async for chunk in input:
            for answer in growing.feed(chunk):
                yield answer
        yield growing.whole()


class _Growing:
    """An answer while its text arrives."""

    def __init__(self, parser: AnswerParser) -> None:
        self.parser = parser
        self.stream = StreamParser(len(parser.documents))
        self.raw = self.shown = ""

    def feed(self, chunk: str | BaseMessage | BaseMessageChunk | Any) -> Iterator[Answer]:
        piece = message_text(chunk)
        self.raw += piece
        news = self.stream.feed(piece).text
        if news:
            self.shown += news
            yield Answer(self.parser.question, self.shown)

    def whole(self) -> Answer:
        return self.parser.parse(self.raw)
