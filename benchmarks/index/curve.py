"""What the index costs as it grows: one size a run, one thread, CPU time.

    OMP_NUM_THREADS=1 python benchmarks/index/curve.py CORPUS.jsonl QUERIES.jsonl --chunks 1000000

Texts and vectors are those of `compare.py`: windows of real text (which repeat as the corpus grows), random unit rows.
Prints a JSON line; medians over the questions. `--bm25s` puts bm25s beside it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import DIMENSION, add_one, build_ours, hybrid, import_ours, measured, peak, resident, unit_rows, windows

BLOCK = 10_000


def rows(n: int) -> Iterator[Any]:
    """n random unit rows, a block in memory at a time."""
    for start in range(0, n, BLOCK):
        yield from unit_rows(min(BLOCK, n - start), seed=start)


def build(folder: Path, corpus: Path, n: int) -> dict[str, float]:
    """CPU seconds and peak memory of an ingest; making the texts and vectors is taken off."""
    import_ours()
    from rag_app.embed import HashingEmbedder

    def drain() -> None:
        for _ in zip(windows(corpus, n), rows(n), strict=True):
            pass

    given = measured(drain)[2]
    before = resident()
    embedder = HashingEmbedder(dimensions=DIMENSION)
    cpu = measured(lambda: build_ours(folder / "index", windows(corpus, n), rows(n), embedder))[2]
    size = sum(file.stat().st_size for file in (folder / "index").rglob("*") if file.is_file())
    return {"ingest CPU s": round(cpu - given, 2), "peak MB": round(peak() - before), "on disk MB": round(size / 2**20)}


def ask(folder: Path, queries: list[str]) -> dict[str, float]:
    """Medians of opening, asking and adding, in a process that did not build the index."""
    from rag_app.index import LocalIndex

    def median(call: Any, items: Any) -> float:
        return round(float(np.median([measured(lambda item=item: call(item))[2] for item in items])) * 1000, 3)

    before = resident()
    index = LocalIndex.open(folder / "index")
    result = {"open ms": median(lambda _: LocalIndex.open(folder / "index"), range(5))}
    vectors = unit_rows(len(queries), seed=1)
    for query in queries[30:]:
        index.bm25(query, k=10)
    result["bm25 ms"] = median(lambda q: index.bm25(q, k=10), queries[:30])
    result["dense ms"] = median(lambda v: index.dense_by_vectors([v], k=10), vectors[:20])
    result["hybrid ms"] = median(lambda i: hybrid(index, queries[i], vectors[i]), range(20))
    for share in (10, 1):
        condition = {"bucket": {"$lt": share}}
        index.dense_by_vectors(vectors[:1], k=10, filters=condition)
        for name, call in (
            ("dense", lambda i, c=condition: index.dense_by_vectors([vectors[i]], k=10, filters=c)),
            ("bm25", lambda i, c=condition: index.bm25(queries[i], k=10, filter=c)),
        ):
            result[f"{name} {share} % ms"] = median(call, range(10))
    result["serving MB"] = round(resident() - before)
    result["add one ms"] = round(add_one(LocalIndex.open(folder / "index")) * 1000, 2)
    return result


def ask_bm25s(corpus: Path, n: int, queries: list[str]) -> dict[str, float]:
    """The same questions to bm25s, all in memory."""
    import bm25s

    index = bm25s.BM25()
    texts = [text.split() for text in windows(corpus, n)]
    cpu = measured(lambda: index.index(texts, show_progress=False))[2]
    times = [
        measured(lambda q=query: index.retrieve([q.split()], k=10, show_progress=False))[2] for query in queries[:30]
    ]
    return {"bm25s index CPU s": round(cpu, 2), "bm25s ms": round(float(np.median(times)) * 1000, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--bm25s", action="store_true")
    parser.add_argument("--job", choices=("build", "ask", "bm25s"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    queries = [json.loads(line)["text"] for line in arguments.queries.open(encoding="utf-8")][:100]
    if arguments.job == "build":
        print(json.dumps(build(arguments.folder, arguments.corpus, arguments.chunks)))
    elif arguments.job == "ask":
        print(json.dumps(ask(arguments.folder, queries)))
    elif arguments.job == "bm25s":
        print(json.dumps(ask_bm25s(arguments.corpus, arguments.chunks, queries)))
    else:
        folder, result = Path(tempfile.mkdtemp()), {"chunks": arguments.chunks}
        for job in ("build", "ask", *(["bm25s"] if arguments.bm25s else [])):  # each in a process of its own
            command = [sys.executable, __file__, str(arguments.corpus), str(arguments.queries), "--job", job]
            command += ["--folder", str(folder), "--chunks", str(arguments.chunks)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            result |= json.loads(done.stdout.splitlines()[-1])
        shutil.rmtree(folder, ignore_errors=True)
        print(json.dumps(result))


if __name__ == "__main__":
    main()
