"""What the benchmarks of the index share: texts, vectors, our index over them, and how time is taken."""

from __future__ import annotations

import json
import random
import resource
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # each process imports what its stack needs
    from langchain_core.documents import Document

    from rag_app.index import LocalIndex

DIMENSION = 384


def windows(file: Path, n: int) -> Iterator[str]:
    """n windows of 80 words, at random places of a corpus in BEIR layout."""
    words = " ".join(json.loads(line)["text"] for line in file.open(encoding="utf-8")).split()
    chance = random.Random(0)
    for _ in range(n):
        at = chance.randrange(len(words) - 80)
        yield " ".join(words[at : at + 80])


def unit_rows(n: int, seed: int = 0) -> Any:
    """(n, 384) float32, random directions."""
    rows = np.random.default_rng(seed).standard_normal((n, DIMENSION), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def vector_of(text: str) -> Any:
    """A random unit vector, the same for the same text."""
    return unit_rows(1, zlib.crc32(text.encode()))[0]


def measured(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """(result, wall seconds, CPU seconds)."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def resident() -> float:
    """MB of the process that are in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def peak() -> float:
    """The most MB that the process had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def import_ours() -> None:
    """What writing an index imports, so that no build is charged for it."""
    import filelock  # noqa: F401
    import numpy.ma
    import numpy.random  # noqa: F401
    import Stemmer  # noqa: F401
    import tenacity  # noqa: F401

    import rag_app.embed.batches
    import rag_app.embed.cache
    import rag_app.index.local.vectors
    import rag_app.index.local.writer
    import rag_app.index.settings  # noqa: F401


def build_ours(path: Path, texts: Iterable[str], vectors: Iterable[Any], embedder: Any) -> LocalIndex:
    """Ten chunks a document."""
    from langchain_core.documents import Document

    from rag_app.index import LocalIndex
    from rag_app.types import LoadedDocument, Span, make_chunk_id, make_doc_id

    def put(first: int, group: Sequence[tuple[str, Any]]) -> None:
        text, source = "\n".join(piece for piece, _ in group), f"d{first}.txt"
        doc_id, at, chunks, own = make_doc_id(source, text), 0, [], {}
        for i, (piece, vector) in enumerate(group):
            chunk_id = make_chunk_id(doc_id, Span(at, at + len(piece)))
            facts = {"source": source, "doc_id": doc_id, "start_index": at, "bucket": (first + i) % 100}
            chunks.append(Document(id=chunk_id, page_content=piece, metadata=facts))
            own[chunk_id] = vector
            at += len(piece) + 1
        index.upsert(LoadedDocument(id=doc_id, page_content=text, metadata={"source": source}), chunks, vectors=own)

    with LocalIndex.create(path, embedder=embedder) as index:
        group: list[tuple[str, Any]] = []
        for n, pair in enumerate(zip(texts, vectors, strict=True), start=1):
            group.append(pair)
            if len(group) == 10:
                put(n - 10, group)
                group = []
        if group:
            put(n - len(group), group)
    return index


def hybrid(index: LocalIndex, query: str, vector: Any) -> list[Document]:
    """Both rankings, fused by reciprocal ranks, with their documents."""
    scores: dict[str, float] = {}
    for ranking in (index.bm25(query, k=10), index.dense_by_vectors([vector], k=10)[0]):
        for hit in ranking:
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + 1 / (60 + hit.rank)
    return index.get(sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))[:10])


def add_one(index: LocalIndex) -> float:
    """Median CPU seconds to put in one document and commit, over five."""
    from langchain_core.documents import Document

    from rag_app.types import LoadedDocument

    times = []
    for i in range(5):
        document = LoadedDocument(id=f"new{i}", page_content="one new pump", metadata={"source": f"new{i}"})
        chunk = Document(id=f"new{i}:0-12", page_content="one new pump", metadata={"source": f"new{i}"})

        def put(document: LoadedDocument = document, chunk: Document = chunk) -> None:
            index.upsert(document, [chunk], vectors={str(chunk.id): unit_rows(1)[0]})
            index.commit()

        times.append(measured(put)[2])
    return float(np.median(times))
