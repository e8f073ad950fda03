"""The local index beside rank_bm25, bm25s and the usual LangChain stack: one run, interleaved, one thread.

    OMP_NUM_THREADS=1 python benchmarks/index/compare.py CORPUS.jsonl QUERIES.jsonl --chunks 10000

Texts are windows of 80 words of a corpus in BEIR layout; vectors are random unit rows, so embedding costs nothing.
Building and serving run in a process for each stack, opening in a fresh one each time. Queries are interleaved in one
process, ten to each stack in turn: medians over `--questions` that come after `--warm` others, as in a server that is
up. Prints JSON lines and a table of ratios (the peer's figure over ours). CPU time throughout: wall time depends on the
neighbors.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from common import add_one, build_ours, hybrid, import_ours, measured, peak, resident, unit_rows, vector_of, windows

if TYPE_CHECKING:  # each process imports what its stack needs
    from rag_app.index import LocalIndex

HERE = Path(__file__).parent
FILTERS = {"10 %": {"bucket": {"$lt": 10}}, "1 %": {"bucket": 3}}
# A dictionary of LangChain's FAISS store knows equality only; a function is what its users write for the rest.
THEIRS: dict[str, Any] = {"10 %": lambda metadata: metadata["bucket"] < 10, "1 %": {"bucket": 3}}


def given() -> Any:
    """LangChain embeddings that give random unit vectors, the same for the same text."""
    from langchain_core.embeddings import Embeddings

    class Given(Embeddings):
        def embed_query(self, text: str) -> list[float]:
            vector: list[float] = vector_of(text).tolist()
            return vector

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [self.embed_query(text) for text in texts]

    return Given()


def import_langchain() -> None:
    """What the stack of LangChain imports, so that no build is charged for it."""
    warnings.simplefilter("ignore")
    for name in ("classic.retrievers", "community.retrievers", "community.vectorstores.faiss"):
        importlib.import_module(f"langchain_{name}")
    for name in ("faiss", "rank_bm25"):
        importlib.import_module(name)


def ensemble(keyword: Any, store: Any) -> Any:
    """Both arms, weighted alike."""
    from langchain_classic.retrievers import EnsembleRetriever

    return EnsembleRetriever(retrievers=[keyword, store.as_retriever(search_kwargs={"k": 10})], weights=[0.5, 0.5])


def build_langchain(folder: Path, texts: Sequence[str], vectors: Any) -> None:
    """BM25Retriever and FAISS, saved as their users do: FAISS in its own folder, the keyword retriever as a pickle."""
    from langchain_community.retrievers import BM25Retriever
    from langchain_community.vectorstores import FAISS

    metadatas = [{"bucket": i % 100} for i in range(len(texts))]
    keyword = BM25Retriever.from_texts(list(texts), metadatas=metadatas, k=10)
    pairs = [(text, vector.tolist()) for text, vector in zip(texts, vectors, strict=True)]
    store = FAISS.from_embeddings(pairs, given(), metadatas=metadatas)
    store.save_local(str(folder / "faiss"))
    (folder / "bm25.pickle").write_bytes(pickle.dumps(keyword))


def load_langchain(folder: Path) -> tuple[Any, Any, Any]:
    """What `build_langchain` saved, and both as an ensemble."""
    warnings.simplefilter("ignore")
    from langchain_community.vectorstores import FAISS

    keyword = pickle.loads((folder / "bm25.pickle").read_bytes())
    store = FAISS.load_local(str(folder / "faiss"), given(), allow_dangerous_deserialization=True)
    return keyword, store, ensemble(keyword, store)


def child(job: str, folder: Path, queries: Sequence[str]) -> dict[str, float]:
    """One stage of one stack: CPU seconds of the stage itself, and the memory it took."""
    ours = job.endswith("ours")
    (import_ours if ours else import_langchain)()
    if job.startswith("serve"):
        before = resident()
        if ours:
            from rag_app.index import LocalIndex

            index = LocalIndex.open(folder / "index")
            _ = [hybrid(index, query, vector_of(query)) for query in queries]
        else:
            both = load_langchain(folder)[2]
            _ = [both.invoke(query) for query in queries]
        return {"MB": round(resident() - before, 1)}
    texts = json.loads((folder / "texts.json").read_text())
    vectors = np.asarray(np.load(folder / "vectors.npy", mmap_mode="r"))  # rows of a memmap are slow to make
    embedder, before = given(), resident()
    if ours:
        spent = measured(lambda: build_ours(folder / "index", texts, vectors, embedder))[2]
    else:
        spent = measured(lambda: build_langchain(folder, texts, vectors))[2]
    return {"cpu": round(spent, 3), "MB": round(peak() - before, 1)}


def staged(job: str, arguments: argparse.Namespace, folder: Path) -> dict[str, float]:
    """`child` in a process of its own."""
    command = [sys.executable, __file__, str(arguments.corpus), str(arguments.queries), "--job", job]
    done = subprocess.run([*command, "--folder", str(folder)], check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def cold(program: str) -> float:
    """CPU seconds of a fresh Python that runs the program, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, cwd=HERE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def opening(folder: Path, question: str, rounds: int) -> dict[str, dict[str, float]]:
    """A fresh process that opens, and one that also answers with documents; medians, in turn."""
    open_ours = f"from rag_app.index import LocalIndex; index = LocalIndex.open({str(folder / 'index')!r})"
    open_theirs = f"from compare import load_langchain, Path; both = load_langchain(Path({str(folder)!r}))[2]"
    programs = {
        "open, from process start, CPU s": {"ours": open_ours, "langchain": open_theirs},
        "open and a first hybrid answer, CPU s": {
            "ours": f"{open_ours}\nfrom common import hybrid, vector_of\nhybrid(index, {question!r}, vector_of('q'))",
            "langchain": f"{open_theirs}\nboth.invoke({question!r})",
        },
    }
    result = {}
    for name, pair in programs.items():
        times: dict[str, list[float]] = {stack: [] for stack in pair}
        for _ in range(rounds):
            for stack, program in pair.items():
                times[stack].append(cold(program))
        result[name] = {stack: round(float(np.median(values)), 3) for stack, values in times.items()}
    return result


def interleaved(calls: dict[str, Callable[[Any], Any]], inputs: Sequence[Any], *, block: int = 10) -> dict[str, float]:
    """Median CPU milliseconds of each call; every input goes to all of them, a block of inputs to each in turn."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for start in range(0, len(inputs), block):
        for name, call in calls.items():
            for item in inputs[start : start + block]:
                times[name].append(measured(lambda call=call, item=item: call(item))[2])  # type: ignore[misc]
    return {name: round(float(np.median(values)) * 1000, 3) for name, values in times.items()}


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
        hybrid(index, query, vector_of(query))
        sparse.retrieve([query.split()], k=10, show_progress=False)
    figures: dict[str, dict[str, float]] = {}
    figures["bm25 ms"] = interleaved(
        {
            "ours": lambda q: index.bm25(q, k=10),
            "rank_bm25": lambda q: np.argsort(okapi.get_scores(q.split()))[::-1][:10],
            "bm25s": lambda q: sparse.retrieve([q.split()], k=10, show_progress=False),
            "langchain": keyword.invoke,
        },
        queries,
    )
    figures["hybrid ms"] = interleaved(
        {"ours": lambda q: hybrid(index, q, vector_of(q)), "langchain": both.invoke}, queries[:30]
    )
    rows = list(vectors[:20])
    for name, condition in FILTERS.items():
        found = index.dense_by_vectors(rows, k=10, filters=condition)
        figures[f"dense, filter passes {name}, recall"] = {"ours": recall(index, found, vectors, rows, condition)}
        figures[f"dense, filter passes {name}, ms"] = interleaved(
            {
                "ours": lambda v, c=condition: index.dense_by_vectors([v], k=10, filters=c),
                "langchain": lambda v, c=THEIRS[name]: store.similarity_search_by_vector(
                    v.tolist(), k=10, filter=c, fetch_k=len(texts)
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


def recall(index: LocalIndex, found: Any, vectors: Any, rows: Any, condition: dict[str, Any]) -> float:
    """The share of the true ten, by a product of all rows that pass, whose score was returned."""
    buckets = np.arange(len(vectors)) % 100
    passing = np.flatnonzero(buckets < 10 if condition == FILTERS["10 %"] else buckets == 3)
    shares = []
    for hits, row in zip(found, rows, strict=True):
        true = np.sort(vectors[passing].astype(np.float64) @ row.astype(np.float64))[::-1][:10]
        scores = np.asarray([hit.score for hit in hits])
        shares.append(float(np.mean(scores[: len(true)] >= true - 1e-5)) if len(scores) == len(true) else 0.0)
    return float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--warm", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3, help="builds and openings")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    questions = [json.loads(line)["text"] for line in arguments.queries.open(encoding="utf-8")]
    if arguments.job:
        print(json.dumps(child(arguments.job, arguments.folder, questions[:20])))
        return
    from rag_app.index import LocalIndex

    texts, vectors = list(windows(arguments.corpus, arguments.chunks)), unit_rows(arguments.chunks)
    folder = Path(tempfile.mkdtemp())
    (folder / "texts.json").write_text(json.dumps(texts))
    np.save(folder / "vectors.npy", vectors)
    figures: dict[str, dict[str, float]] = {}
    stacks = ("ours", "langchain")
    jobs: dict[str, list[dict[str, float]]] = {f"{kind}-{stack}": [] for kind in ("build", "serve") for stack in stacks}
    for _ in range(arguments.rounds):
        shutil.rmtree(folder / "index", ignore_errors=True)
        for job, found in jobs.items():
            found.append(staged(job, arguments, folder))
    for name, kind, key in (
        ("ingest and save, CPU s", "build", "cpu"),
        ("ingest, peak MB", "build", "MB"),
        ("serving MB", "serve", "MB"),
    ):
        figures[name] = {s: round(float(np.median([one[key] for one in jobs[f"{kind}-{s}"]])), 3) for s in stacks}
    figures |= opening(folder, questions[0], arguments.rounds + 2)
    import_ours()
    import_langchain()
    index, _, ours = measured(lambda: LocalIndex.open(folder / "index", embedder=given()))
    peers, _, theirs = measured(lambda: load_langchain(folder))
    figures["open without imports, CPU ms"] = {"ours": round(ours * 1000, 2), "langchain": round(theirs * 1000, 2)}
    split = (questions[arguments.questions : arguments.questions + arguments.warm], questions[: arguments.questions])
    figures |= query_figures(index, peers, texts, vectors, split)
    figures["add one, CPU ms"] = {
        "ours": round(add_one(index) * 1000, 2),
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
