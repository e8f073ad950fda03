"""The local index beside rank_bm25, bm25s and the usual LangChain stack: one run, interleaved, one thread.

    OMP_NUM_THREADS=1 python benchmarks/index/compare.py CORPUS.jsonl QUERIES.jsonl --chunks 10000

Texts are windows of 80 words of a corpus in BEIR layout; vectors are random unit rows, so embedding costs nothing.
Building and opening run in a process for each stack. Queries are interleaved in one, ten to each stack in turn:
medians over `--questions` that come after `--warm` others, as in a server that is up. Prints JSON lines and a table of
ratios (the peer's figure over ours). CPU time throughout: wall time depends on the neighbors.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

if TYPE_CHECKING:  # each process imports what its stack needs
    from rag_app.index import LocalIndex

DIMENSION = 384


class Given(Embeddings):
    """Random unit vectors, the same for the same text."""

    def embed_query(self, text: str) -> list[float]:
        row = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION)
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


def interleaved(calls: dict[str, Callable[[Any], Any]], inputs: Sequence[Any], *, block: int = 10) -> dict[str, float]:
    """Median CPU milliseconds of each call; every input goes to all of them, a block of inputs to each in turn."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for start in range(0, len(inputs), block):
        for name, call in calls.items():
            for item in inputs[start : start + block]:
                times[name].append(measured(lambda call=call, item=item: call(item))[2])  # type: ignore[misc]
    return {name: round(float(np.median(values)) * 1000, 3) for name, values in times.items()}


def build_ours(path: Path, texts: Sequence[str], vectors: Any) -> LocalIndex:
    """Ten chunks a document."""
    from rag_app.index import LocalIndex
    from rag_app.types import LoadedDocument, Span, make_chunk_id, make_doc_id

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


def save_langchain(folder: Path, keyword: Any, store: Any) -> None:
    """As its users do: FAISS in its own folder, the keyword retriever as a pickle."""
    store.save_local(str(folder / "faiss"))
    (folder / "bm25.pickle").write_bytes(pickle.dumps(keyword))


def load_langchain(folder: Path) -> tuple[Any, Any, Any]:
    """What `save_langchain` wrote."""
    warnings.simplefilter("ignore")
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.vectorstores import FAISS

    keyword = pickle.loads((folder / "bm25.pickle").read_bytes())
    store = FAISS.load_local(str(folder / "faiss"), Given(), allow_dangerous_deserialization=True)
    both = EnsembleRetriever(retrievers=[keyword, store.as_retriever(search_kwargs={"k": 10})], weights=[0.5, 0.5])
    return keyword, store, both


def child(job: str, folder: Path, queries: Sequence[str]) -> dict[str, float]:
    """One stage of one stack: CPU seconds of the stage itself, and the memory of the process."""
    started = 0.0  # of the process: imports count
    before = _resident()
    if job.startswith("build"):
        texts = json.loads((folder / "texts.json").read_text())
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        before = _resident()
        if job == "build-langchain":
            import langchain_community.vectorstores  # noqa: F401
        started = time.process_time()
        if job == "build-ours":
            build_ours(folder / "index", texts, vectors)
        else:
            keyword, store, _ = build_langchain(texts, vectors)
            save_langchain(folder, keyword, store)
    elif job == "open-ours":
        from rag_app.index import LocalIndex

        index = LocalIndex.open(folder / "index", embedder=Given())
    else:
        _, _, both = load_langchain(folder)
    spent = time.process_time() - started
    if job.startswith("open"):
        for query in queries:
            _ = hybrid(index, query) if job == "open-ours" else both.invoke(query)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": round(spent, 3), "MB": round((peak if job.startswith("build") else _resident()) - before, 1)}


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def staged(job: str, arguments: argparse.Namespace, folder: Path) -> dict[str, float]:
    """`child` in a process of its own."""
    command = [sys.executable, __file__, str(arguments.corpus), str(arguments.queries), "--job", job]
    done = subprocess.run([*command, "--folder", str(folder)], check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def query_figures(
    index: LocalIndex, peers: tuple[Any, Any, Any], texts: list[str], vectors: Any, questions: Any
) -> Any:
    """Medians of each kind of query; `questions` are (those to warm up with, those that count)."""
    import bm25s
    from rank_bm25 import BM25Okapi

    keyword, store, both = peers
    warm, queries = questions
    okapi = BM25Okapi([text.split() for text in texts])
    sparse = bm25s.BM25()
    sparse.index([text.split() for text in texts], show_progress=False)
    for query in warm:
        hybrid(index, query)
        sparse.retrieve([query.split()], k=10, show_progress=False)
    figures = {}
    figures["bm25 ms"] = interleaved(
        {
            "ours": lambda q: index.bm25(q, k=10),
            "rank_bm25": lambda q: np.argsort(okapi.get_scores(q.split()))[::-1][:10],
            "bm25s": lambda q: sparse.retrieve([q.split()], k=10, show_progress=False),
            "langchain": keyword.invoke,
        },
        queries,
    )
    figures["hybrid ms"] = interleaved({"ours": lambda q: hybrid(index, q), "langchain": both.invoke}, queries[:30])
    rows = list(vectors[:20])
    conditions = (("10 %", {"bucket": {"$lt": 10}}, lambda m: m["bucket"] < 10), ("1 %", {"bucket": 3}, {"bucket": 3}))
    for name, condition, theirs in conditions:
        index.dense_by_vectors(rows[:1], k=10, filters=condition)
        figures[f"dense, filter passes {name}, ms"] = interleaved(
            {
                "ours": lambda v, c=condition: index.dense_by_vectors([v], k=10, filters=c),
                "langchain": lambda v, c=theirs: store.similarity_search_by_vector(
                    v.tolist(),
                    k=10,
                    filter=(lambda m: m["bucket"] < 10) if c != {"bucket": 3} else c,
                    fetch_k=len(texts),
                ),
            },
            rows[:7],
        )
    figures["dense ms"] = interleaved(
        {
            "ours": lambda v: index.dense_by_vectors([v], k=10),
            "langchain": lambda v: store.similarity_search_by_vector(v.tolist(), k=10),
            "reading the same bytes": lambda v: vectors.sum(),
        },
        rows,
    )
    return figures


def add_one(index: LocalIndex, vectors: Any) -> float:
    """Median CPU seconds to put in one document and commit."""
    from rag_app.types import LoadedDocument

    times = []
    for i in range(5):
        document = LoadedDocument(id=f"new{i}", page_content="one new pump", metadata={"source": f"new{i}"})
        chunk = Document(id=f"new{i}:0-12", page_content="one new pump", metadata={"source": f"new{i}"})

        def put(document: LoadedDocument = document, chunk: Document = chunk) -> None:
            index.upsert(document, [chunk], vectors={str(chunk.id): vectors[0]})
            index.commit()

        times.append(measured(put)[2])
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--warm", type=int, default=100)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    questions = [json.loads(line)["text"] for line in arguments.queries.open(encoding="utf-8")]
    if arguments.job:
        print(json.dumps(child(arguments.job, arguments.folder, questions[:20])))
        return
    from rag_app.index import LocalIndex

    texts = corpus(arguments.corpus, arguments.chunks)
    vectors = np.random.default_rng(0).standard_normal((len(texts), DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    folder = Path(tempfile.mkdtemp())
    (folder / "texts.json").write_text(json.dumps(texts))
    np.save(folder / "vectors.npy", vectors)
    figures: dict[str, dict[str, float]] = {}
    stages = {job: staged(job, arguments, folder) for job in ("build-ours", "build-langchain")}
    opened = [(staged("open-ours", arguments, folder), staged("open-langchain", arguments, folder)) for _ in range(3)]
    figures["ingest and save, CPU s"] = {k: stages[f"build-{k}"]["cpu"] for k in ("ours", "langchain")}
    figures["ingest, peak MB"] = {k: stages[f"build-{k}"]["MB"] for k in ("ours", "langchain")}
    for name, key in (("open with imports, CPU s", "cpu"), ("serving MB", "MB")):
        pair = [float(np.median([pair[i][key] for pair in opened])) for i in (0, 1)]
        figures[name] = {"ours": pair[0], "langchain": pair[1]}
    index, _, ours = measured(lambda: LocalIndex.open(folder / "index", embedder=Given()))
    peers, _, theirs = measured(lambda: load_langchain(folder))
    figures["open without imports, CPU ms"] = {"ours": round(ours * 1000, 2), "langchain": round(theirs * 1000, 2)}
    split = (questions[arguments.questions : arguments.questions + arguments.warm], questions[: arguments.questions])
    figures |= query_figures(index, peers, texts, vectors, split)
    figures["add one, CPU ms"] = {
        "ours": round(add_one(index, vectors) * 1000, 2),
        "ours, rebuilt": figures["ingest and save, CPU s"]["ours"] * 1000,
    }
    shutil.rmtree(folder, ignore_errors=True)
    for name, values in figures.items():
        print(json.dumps({"measure": name, "chunks": len(texts), **values}))
    print(f"\n| measure, {len(texts)} chunks | ours | peers (ratio to ours) |\n|---|---|---|")
    for name, values in figures.items():
        others = ", ".join(
            f"{p} {v:g} ({v / max(values['ours'], 1e-9):.1f}x)" for p, v in values.items() if p != "ours"
        )
        print(f"| {name} | {values['ours']:g} | {others} |")


if __name__ == "__main__":
    main()
