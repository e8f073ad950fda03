"""Checkpoints after a split: are the chunks of the size that was asked for, and do they keep sentences whole?"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from langchain_core.documents import Document

from rag_app.split.base import SpanSplitter
from rag_app.text.sentences import sentence_spans
from rag_app.types import Span

MEAN_WITHIN = (0.8, 1.2)
LARGEST = 1.5


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """What was measured; sizes in the splitters' units, ratios against each splitter's own target.

    `mean_ratio` is over the documents that are at least twice as long as their target, since a short one cannot fill a
    chunk; None when there is none. `cuts_sentence` and `without_sentence` are shares of all chunks; a sentence counts
    when it would have fitted. A breach is a sentence in `warnings` that names the chunk.
    """

    documents: int
    chunks: int
    mean_size: float
    median_size: float
    smallest: int
    largest: int
    mean_ratio: float | None
    largest_ratio: float | None
    cuts_sentence: float
    without_sentence: float
    warnings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Nothing to warn of."""
        return not self.warnings


@dataclass(slots=True)
class CheckpointCollector:
    """Gathers the measurements document by document; `report` may be asked at any time."""

    most_warnings: int = 20
    _documents: int = 0
    _sizes: list[int] = field(default_factory=list)
    _ratios: list[float] = field(default_factory=list)
    _largest_ratio: float | None = None
    _cuts: int = 0
    _without: int = 0
    _warnings: list[str] = field(default_factory=list)
    _breaches: int = 0

    def add(self, document: Document, chunks: Sequence[Document], splitter: SpanSplitter) -> None:
        """Measure the chunks that `splitter` made of `document`; offsets are in its text."""
        splitter = splitter.for_document(document)
        text, target = document.page_content, splitter.target_size
        spans = [Span(chunk.metadata["start_index"], chunk.metadata["end_index"]) for chunk in chunks]
        sizes = [splitter.measure(chunk.page_content) for chunk in chunks]
        self._documents += 1
        self._sizes += sizes
        # Source code has lines, not sentences.
        sentences = [] if document.metadata.get("document_type") == "code" else sentence_spans(text)
        starts = [sentence.start for sentence in sentences]
        room = max(sizes, default=0)
        for chunk, span, size in zip(chunks, spans, sizes, strict=True):
            if target is not None:
                self._target(chunk, size, target)
            cut = _cut_sentence(span, sentences, starts)
            if cut is not None and splitter.measure(cut.slice(text)) <= room:
                self._cuts += 1
                self._warn(f"chunk {chunk.id} of {_source(chunk)} cuts the sentence at {cut.start}-{cut.end}")
            if sentences and cut is None and not _holds_sentence(span, sentences, starts):
                self._without += 1
                self._warn(f"chunk {chunk.id} of {_source(chunk)} holds no whole sentence")
        if target is not None and chunks and splitter.measure(text) >= 2 * target:
            self._ratios += [size / target for size in sizes]

    def _target(self, chunk: Document, size: int, target: int) -> None:
        ratio = size / target
        self._largest_ratio = ratio if self._largest_ratio is None else max(self._largest_ratio, ratio)
        if ratio > LARGEST:
            self._warn(f"chunk {chunk.id} of {_source(chunk)} has size {size}, {ratio:.2f} times the target {target}")

    def _warn(self, message: str) -> None:
        self._breaches += 1
        if len(self._warnings) < self.most_warnings:
            self._warnings.append(message)

    def report(self) -> Checkpoints:
        """The measurements so far."""
        sizes = sorted(self._sizes)
        count = len(sizes)
        mean_ratio = sum(self._ratios) / len(self._ratios) if self._ratios else None
        warnings = list(self._warnings)
        if self._breaches > len(warnings):
            warnings.append(f"{self._breaches - len(warnings)} more warnings of these kinds")
        low, high = MEAN_WITHIN
        if mean_ratio is not None and not low <= mean_ratio <= high:
            warnings.insert(0, f"the mean chunk is {mean_ratio:.2f} times the target size; {low} to {high} is meant")
        return Checkpoints(
            documents=self._documents,
            chunks=count,
            mean_size=sum(sizes) / count if count else 0.0,
            median_size=(sizes[(count - 1) // 2] + sizes[count // 2]) / 2 if count else 0.0,
            smallest=sizes[0] if count else 0,
            largest=sizes[-1] if count else 0,
            mean_ratio=mean_ratio,
            largest_ratio=self._largest_ratio,
            cuts_sentence=self._cuts / count if count else 0.0,
            without_sentence=self._without / count if count else 0.0,
            warnings=tuple(warnings),
        )


def checkpoints(documents: Iterable[Document], splitter: SpanSplitter) -> Checkpoints:
    """The checkpoints of `splitter` on `documents`: splits them and measures."""
    collector = CheckpointCollector()
    for document in documents:
        collector.add(document, splitter.chunks(document), splitter)
    return collector.report()


def _cut_sentence(span: Span, sentences: Sequence[Span], starts: Sequence[int]) -> Span | None:
    """A sentence that the chunk holds a part of only; None when it cuts none."""
    for place in (span.start, span.end):
        at = bisect.bisect_left(starts, place) - 1
        if at >= 0 and sentences[at].start < place < sentences[at].end:
            return sentences[at]
    return None


def _holds_sentence(span: Span, sentences: Sequence[Span], starts: Sequence[int]) -> bool:
    at = bisect.bisect_left(starts, span.start)
    return at < len(sentences) and sentences[at].end <= span.end


def _source(chunk: Document) -> str:
    return str(chunk.metadata.get("source", "a document"))
