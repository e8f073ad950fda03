"""Recall, precision and IoU of chunkers on a corpus with gold spans: ours beside LangChain's, at three sizes.

    python benchmarks/chunks/run.py ../shared/data/chroma_chunking [--json] [--only ours|theirs]

The corpus is a folder with corpus.jsonl and qa.jsonl (Chroma's chunking evaluation in that layout). Five chunks are
read for each question; characters; the packaged MiniLM. Chunks that occur in several rows are embedded once.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_text_splitters import RecursiveCharacterTextSplitter
from pydantic import Field

from rag_app.embed import HashingEmbedder, default_embedding
from rag_app.embed.base import Embedder, Matrix
from rag_app.evaluate.chunks import load_corpus, score_chunks
from rag_app.split import MarkdownSplitter, ParentSplitter, RecursiveSplitter, SemanticSplitter, SentenceWindowSplitter

Row = tuple[str, Callable[[Sequence[Document]], Sequence[Document]], str | None]


class Remembering(Embedder):
    """The default embedder with a memory, since rows of the table share chunks."""

    kind: str = "remembering"
    inner: Any = None
    memory: dict[str, Any] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.inner.name)

    @property
    def dimension(self) -> int:
        return int(self.inner.dimension)

    def _encode(self, texts: Sequence[str], *, query: bool) -> Matrix:
        missing = [text for text in texts if text not in self.memory]
        if missing:
            self.memory.update(zip(missing, self.inner.encode(missing, query=query), strict=True))
        return np.stack([self.memory[text] for text in texts])


def theirs(size: int, overlap: int, **options: Any) -> Callable[[Sequence[Document]], Sequence[Document]]:
    """LangChain's recursive splitter; the ends of its chunks follow from their starts."""

    def split(documents: Sequence[Document]) -> Sequence[Document]:
        splitter = RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=overlap, add_start_index=True, **options
        )
        chunks = splitter.split_documents(
            [Document(page_content=d.page_content, metadata=d.metadata) for d in documents]
        )
        for chunk in chunks:
            chunk.metadata["end_index"] = chunk.metadata["start_index"] + len(chunk.page_content)
        return chunks

    return split


def rows(embedder: Embedder, only: str | None) -> Iterator[Row]:
    """Name, splitter, and the span that is read instead of the chunk."""
    if only != "ours":
        sentence_marks = {"separators": ["\n\n", "\n", ". ", "? ", "! ", " ", ""], "keep_separator": "end"}
        yield "LangChain recursive 1600/0", theirs(1600, 0), None
        yield "LangChain recursive 800/200", theirs(800, 200), None
        yield "LangChain recursive 800/0", theirs(800, 0), None
        yield "LangChain recursive 400/0, sentence marks", theirs(400, 0, **sentence_marks), None
    if only != "theirs":
        for size in (1150, 600, 285):
            yield f"markdown {size}", MarkdownSplitter(chunk_size=size).transform_documents, None
        for size in (1200, 680, 360):
            yield f"recursive {size}", RecursiveSplitter(chunk_size=size).transform_documents, None
        yield "semantic", SemanticSplitter(embeddings=embedder).transform_documents, None
        sentence = SentenceWindowSplitter(sentences=2, window=1).transform_documents
        yield "two sentences", sentence, None
        yield "two sentences, window read", sentence, "window"
        parent = ParentSplitter(
            parents=MarkdownSplitter(chunk_size=1150), children=MarkdownSplitter(chunk_size=285)
        ).transform_documents
        yield "parent 1150 / child 285, child read", parent, None
        yield "parent 1150 / child 285, parent read", parent, "parent"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("corpus")
    arguments.add_argument("--json", action="store_true", help="one JSON object a row")
    arguments.add_argument("--only", choices=("ours", "theirs"))
    arguments.add_argument("--hashing", action="store_true", help="a quick run without a model, to try the program")
    options = arguments.parse_args()
    documents, questions = load_corpus(options.corpus)
    embedder = Remembering(inner=HashingEmbedder() if options.hashing else default_embedding())
    if not options.json:
        sys.stdout.write(
            "| splitter | chunks | mean characters | read | recall | precision | IoU | seconds to split |\n"
        )
        sys.stdout.write("|---|---|---|---|---|---|---|---|\n")
    for name, split, read in rows(embedder, options.only):
        started = time.process_time()
        chunks = split(documents)
        seconds = time.process_time() - started
        scores = score_chunks(chunks, questions, embedder, read=read)
        if options.json:
            fields = ("chunks", "mean_size", "mean_read", "recall", "precision", "iou")
            row = {"splitter": name, **{field: getattr(scores, field) for field in fields}, "seconds": seconds}
            sys.stdout.write(json.dumps(row) + "\n")
        else:
            sys.stdout.write(
                f"| {name} | {scores.chunks} | {scores.mean_size:.0f} | {scores.mean_read:.0f} | {scores.recall:.3f} "
                f"| {scores.precision:.3f} | {scores.iou:.3f} | {seconds:.2f} |\n"
            )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
