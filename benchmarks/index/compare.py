"""The local index beside rank_bm25, bm25s and the usual LangChain stack: one run, interleaved, one thread.

    OMP_NUM_THREADS=1 python benchmarks/index/compare.py CORPUS.jsonl QUERIES.jsonl --chunks 10000

Texts are windows of 80 words of a corpus in BEIR layout; vectors are random unit rows, so embedding costs nothing.
Prints JSON lines and a table of ratios (the peer's figure over ours). Medians of CPU time: wall time depends on the
neighbors. With more threads than free cores the figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from rag_app.embed.base import unit_rows
from rag_app.index import LocalIndex
from rag_app.types import LoadedDocument, Span, make_chunk_id, make_doc_id

DIMENSION = 384


class Given(Embeddings):
    """Random unit vectors, the same for the same text."""

    def embed_query(self, text: str) -> list[float]:
        row = np.random.default_rng(abs(hash(text)) % 2**32).standard_normal(DIMENSION)
        return [float(x) for x in row / np.linalg.norm(row)]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def corpus(file: Path, n: int) -> list[str]:
    """n windows of 80 words."""
    words = " ".join(json.loads(line)["text"] for line in file.open(encoding="utf-8")).split()
    chance = random.Random(0)
    return [" ".join(words[(at := chance.randrange(len(words) - 80)) : at + 80]) for _ in range(n)]


def measured(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """(result, wall seconds, CPU seconds)."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def interleaved(calls: dict[str, Callable[[Any], Any]], inputs: Sequence[Any]) -> dict[str, float]:
    """Median CPU milliseconds of each call; every input goes to all of them in turn."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for item in inputs:
        for name, call in calls.items():
            times[name].append(measured(lambda call=call, item=item: call(item))[2])  # type: ignore[misc]
    return {name: round(float(np.median(values)) * 1000, 3) for name, values in times.items()}


def build_ours(path: Path, texts: Sequence[str], vectors: Any) -> LocalIndex:
    """Ten chunks a document."""
    with LocalIndex.create(path, embedder=Given()) as index:
        for first in range(0, len(texts), 10):
            group = texts[first : first + 10]
            text, source = "\n".join(group), f"d{first}.txt"
            doc_id, at, chunks, own = make_doc_id(source, text), 0, [], {}
            for i, piece in enumerate(group):
                chunk_id = make_chunk_id(doc_id, Span(at, at + len(piece)))
                facts = {"source": source, "doc_id": doc_id, "start_index": at, "bucket": (first + i) % 100}
                chunks.append(Document(id=chunk_id, page_content=piece, metadata=facts))
                own[chunk_id] = vectors[first + i]
                at += len(piece) + 1
            index.upsert(LoadedDocument(id=doc_id, page_content=text, metadata={"source": source}), chunks, vectors=own)
    return index


def build_langchain(texts: Sequence[str], vectors: Any) -> tuple[Any, Any, Any]:
    """BM25Retriever, FAISS and EnsembleRetriever over the same chunks."""
    warnings.simplefilter("ignore")
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_community.vectorstores import FAISS

    metadatas = [{"bucket": i % 100} for i in range(len(texts))]
    keyword = BM25Retriever.from_texts(list(texts), metadatas=metadatas, k=10)
    store = FAISS.from_embeddings(
        [(text, vector.tolist()) for text, vector in zip(texts, vectors, strict=True)], Given(), metadatas=metadatas
    )
    both = EnsembleRetriever(retrievers=[keyword, store.as_retriever(search_kwargs={"k": 10})], weights=[0.5, 0.5])
    return keyword, store, both


def hybrid(index: LocalIndex, query: str) -> list[Document]:
    """Both rankings, fused by reciprocal ranks, with their documents."""
    scores: dict[str, float] = {}
    for ranking in (index.bm25(query, k=10), index.dense(query, k=10)):
        for hit in ranking:
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + 1 / (60 + hit.rank)
    return index.get(sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))[:10])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=50)
    arguments = parser.parse_args()
    texts = corpus(arguments.corpus, arguments.chunks)
    queries = [json.loads(line)["text"] for line in arguments.queries.open(encoding="utf-8")][: arguments.questions]
    vectors = unit_rows(np.random.default_rng(0).standard_normal((len(texts), DIMENSION)))
    folder = Path(tempfile.mkdtemp())
    figures: dict[str, dict[str, float]] = {}

    index, _, ours = measured(lambda: build_ours(folder / "index", texts, vectors))
    (keyword, store, both), _, theirs = measured(lambda: build_langchain(texts, vectors))
    _, _, saving = measured(lambda: store.save_local(str(folder / "faiss")))
    figures["ingest CPU s"] = {"ours": round(ours, 2), "langchain": round(theirs + saving, 2)}

    index, _, ours = measured(lambda: LocalIndex.open(folder / "index", embedder=Given()))
    _, _, theirs = measured(
        lambda: type(store).load_local(str(folder / "faiss"), Given(), allow_dangerous_deserialization=True)
    )
    figures["open CPU ms (FAISS only)"] = {"ours": round(ours * 1000, 2), "langchain": round(theirs * 1000, 2)}

    import bm25s
    from rank_bm25 import BM25Okapi

    okapi = BM25Okapi([text.split() for text in texts])
    sparse = bm25s.BM25()
    sparse.index([text.split() for text in texts], show_progress=False)
    figures["bm25 ms"] = interleaved(
        {
            "ours": lambda q: index.bm25(q, k=10),
            "rank_bm25": lambda q: np.argsort(okapi.get_scores(q.split()))[::-1][:10],
            "bm25s": lambda q: sparse.retrieve([q.split()], k=10, show_progress=False),
            "langchain": keyword.invoke,
        },
        queries,
    )
    figures["hybrid ms"] = interleaved({"ours": lambda q: hybrid(index, q), "langchain": both.invoke}, queries)
    rows = list(vectors[:20])
    for name, condition in (("10 %", {"bucket": {"$lt": 10}}), ("1 %", {"bucket": 3})):
        figures[f"dense, filter passes {name}, ms"] = interleaved(
            {
                "ours": lambda v, c=condition: index.dense_by_vectors([v], k=10, filters=c),
                "langchain": lambda v, c=condition: store.similarity_search_by_vector(
                    v.tolist(), k=10, filter=c, fetch_k=len(texts)
                ),
            },
            rows[:5],
        )
    figures["dense ms"] = interleaved(
        {
            "ours": lambda v: index.dense_by_vectors([v], k=10),
            "langchain": lambda v: store.similarity_search_by_vector(v.tolist(), k=10),
            "reading the same bytes": lambda v: vectors.sum(),
        },
        rows,
    )
    new = LoadedDocument(id="new", page_content="one new pump", metadata={"source": "new"})
    chunk = Document(id="new:0-12", page_content="one new pump", metadata={"source": "new"})

    def add_one() -> None:
        index.upsert(new, [chunk], vectors={"new:0-12": vectors[0]})
        index.commit()

    _, _, added = measured(add_one)
    figures["add one, CPU ms"] = {
        "ours": round(added * 1000, 2),
        "ours, rebuilt": figures["ingest CPU s"]["ours"] * 1000,
    }
    shutil.rmtree(folder, ignore_errors=True)
    for name, values in figures.items():
        print(json.dumps({"measure": name, "chunks": len(texts), **values}))
    print(f"\n{'measure':32}{'ours':>12}  peers (ratio to ours)")
    for name, values in figures.items():
        peers = ", ".join(f"{p} {v:g} ({v / max(values['ours'], 1e-9):.1f}x)" for p, v in values.items() if p != "ours")
        print(f"{name:32}{values['ours']:12g}  {peers}")


if __name__ == "__main__":
    main()
