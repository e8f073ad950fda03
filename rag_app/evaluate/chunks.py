"""How well chunks serve retrieval: recall, precision and IoU of characters against gold spans.

The measures are those of Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma 2024, counted in
characters: the `top_k` chunks nearest to a question by cosine are read; what two of them share counts twice against
precision and IoU, once for recall.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document

from rag_app.embed.base import Embedder
from rag_app.types import ConfigError, LoadedDocument, Span, make_doc_id

Progress = Callable[[int, int, str], None]
_BATCH = 512


@dataclass(frozen=True, slots=True)
class ChunkQuestion:
    """A question and the spans that answer it, by source."""

    question: str
    spans: Mapping[str, tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class ChunkScores:
    """Means over the questions, in [0, 1]; `mean_size` of all chunks, `mean_read` per question, in characters."""

    chunks: int
    questions: int
    top_k: int
    mean_size: float
    mean_read: float
    recall: float
    precision: float
    iou: float


def load_corpus(folder: str | Path) -> tuple[list[LoadedDocument], list[ChunkQuestion]]:
    """Documents of `corpus.jsonl` and questions of `qa.jsonl`; ConfigError when the folder has no such files.

    `corpus.jsonl` has `_id`, `text`, `title`; `qa.jsonl` has `question`, `doc_id` and `references` with `start_index`
    and `end_index`, characters half-open in the document's text.
    """
    folder = Path(folder)
    documents = []
    for row in _rows(folder / "corpus.jsonl"):
        source, text = str(row["_id"]), str(row["text"])
        doc_id = make_doc_id(source, text)
        metadata = {"source": source, "doc_id": doc_id, "title": row.get("title") or source}
        documents.append(LoadedDocument(id=doc_id, page_content=text, metadata=metadata))
    questions = []
    for row in _rows(folder / "qa.jsonl"):
        spans: dict[str, list[Span]] = {}
        for reference in row.get("references") or row.get("spans") or ():
            source = str(row.get("doc_id") or reference["doc"])
            start, end = (
                reference.get("start_index", reference.get("start")),
                reference.get("end_index", reference.get("end")),
            )
            spans.setdefault(source, []).append(Span(int(start), int(end)))
        questions.append(ChunkQuestion(str(row["question"]), {key: tuple(value) for key, value in spans.items()}))
    return documents, questions


def score_chunks(
    chunks: Sequence[Document],
    questions: Sequence[ChunkQuestion],
    embedder: Embedder,
    *,
    top_k: int = 5,
    read: str | None = None,
    progress: Progress | None = None,
) -> ChunkScores:
    """Recall, precision and IoU of what is read when each question gets its `top_k` chunks.

    `read` is the metadata field whose span is read instead of the chunk ("parent", "window"); chunks that name the same
    span count once, and the next ones fill the places. Ties in the ranking go to the earlier chunk. No chunks: all 0.
    """
    if not chunks or not questions:
        return ChunkScores(len(chunks), len(questions), top_k, 0.0, 0.0, 0.0, 0.0, 0.0)
    rows = []
    for start in range(0, len(chunks), _BATCH):
        batch = chunks[start : start + _BATCH]
        rows.append(embedder.encode([str(c.metadata.get("embed_text", c.page_content)) for c in batch]))
        if progress is not None:
            progress(min(start + _BATCH, len(chunks)), len(chunks), "embed")
    scores = embedder.encode([q.question for q in questions], query=True) @ np.concatenate(rows).T
    places = [(str(chunk.metadata.get("source", "")), _span(chunk, read)) for chunk in chunks]
    measured = []
    for question, row in zip(questions, scores, strict=True):
        best = dict.fromkeys(places[index] for index in np.argsort(-row, kind="stable")[: top_k * 20])
        measured.append(overlap_measures(list(best)[:top_k], question.spans))
    recall, precision, iou, total = np.asarray(measured, dtype=np.float64).mean(axis=0)
    sizes = [len(chunk.page_content) for chunk in chunks]
    return ChunkScores(
        chunks=len(chunks),
        questions=len(questions),
        top_k=top_k,
        mean_size=sum(sizes) / len(sizes),
        mean_read=float(total),
        recall=float(recall),
        precision=float(precision),
        iou=float(iou),
    )


def overlap_measures(
    read: Sequence[tuple[str, Span]], gold: Mapping[str, Sequence[Span]]
) -> tuple[float, float, float, int]:
    """Recall, precision, IoU and characters read, for the spans `read` (by source) against the gold spans.

    With h characters of gold that are read, n of gold and r read (repeats counted): h / n, h / r, h / (n + r - h).
    """
    golden = {(source, place) for source, spans in gold.items() for span in spans for place in range(*span)}
    seen = {(source, place) for source, span in read if source in gold for place in range(*span)}
    hit, total = len(golden & seen), sum(span.end - span.start for _, span in read)
    union = len(golden) + total - hit
    return (hit / len(golden) if golden else 0.0, hit / total if total else 0.0, hit / union if union else 0.0, total)


def _span(chunk: Document, read: str | None) -> Span:
    own = Span(chunk.metadata["start_index"], chunk.metadata["end_index"])
    return Span(*chunk.metadata[read]) if read is not None and read in chunk.metadata else own


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; a corpus has corpus.jsonl and qa.jsonl") from None
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path} is not JSON lines: {error.msg} at character {error.pos}; mend that line") from None
