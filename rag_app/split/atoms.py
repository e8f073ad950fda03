"""The smallest pieces that chunks of sentences are put together from."""

from __future__ import annotations

from rag_app.split.base import SpanSplitter
from rag_app.split.recursive import RecursiveSplitter
from rag_app.text.sentences import sentence_spans
from rag_app.types import Span


def sentence_atoms(splitter: SpanSplitter, text: str, most: int) -> list[Span]:
    """The sentences of `text`; one that measures more than `most` in the splitter's unit comes in pieces."""
    cutter = splitter.sharing(RecursiveSplitter(chunk_size=most))
    atoms: list[Span] = []
    for sentence in sentence_spans(text):
        if splitter.measure(sentence.slice(text)) <= most:
            atoms.append(sentence)
        else:
            atoms += [part.shift(sentence.start) for part in cutter.spans(sentence.slice(text))]
    return atoms
