"""Two writers and four readers, in threads and then in processes: no exception, whole commits, counts agree.

python benchmarks/index/load.py --seconds 60
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex
from rag_app.types import LoadedDocument

EMBEDDER = HashingEmbedder(dimensions=16)


def write(path: str, who: str, stop: float, out: Any) -> None:
    """Commit documents of two chunks; tell how many."""
    done = 0
    while time.time() < stop:
        with LocalIndex.open(path, embedder=EMBEDDER) as index:
            name = f"{who}{done}"
            chunks = [Document(id=f"{name}:{i}", page_content=f"pump {i}") for i in range(2)]
            index.upsert(LoadedDocument(id=name, page_content="pump"), chunks, replace="id")
        done += 1
    out.put(("written", done))


def read(path: str, stop: float, out: Any) -> None:
    """Search; every state must hold whole documents."""
    index, asked = LocalIndex.open(path, embedder=EMBEDDER), 0
    while time.time() < stop:
        index.refresh()
        count = len(index)
        assert count % 2 == 0, count
        assert len(index.bm25("pump", k=10**6)) == len(index.dense("pump", k=10**6)) == count
        asked += 1
    out.put(("asked", asked))


def guarded(call: Callable[..., None], *arguments: Any) -> None:
    """Tell an exception instead of losing it."""
    try:
        call(*arguments)
    except BaseException as error:
        arguments[-1].put(("error", repr(error)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    for kind, make in (("threads", threading.Thread), ("processes", multiprocessing.Process)):
        path = str(folder / kind)
        LocalIndex.create(path, embedder=EMBEDDER).close()
        out: Any = multiprocessing.Queue()
        stop = time.time() + arguments.seconds
        jobs = [make(target=guarded, args=(write, path, who, stop, out)) for who in "ab"]
        jobs += [make(target=guarded, args=(read, path, stop, out)) for _ in range(4)]
        for job in jobs:
            job.start()
        told = [out.get() for _ in jobs]
        for job in jobs:
            job.join()
        written = sum(n for what, n in told if what == "written")
        errors = [n for what, n in told if what == "error"]
        count = len(LocalIndex.open(path))
        print(
            json.dumps(
                {
                    "kind": kind,
                    "commits": written,
                    "searches": sum(n for what, n in told if what == "asked"),
                    "errors": errors,
                    "counts_agree": count == 2 * written,
                }
            ),
            flush=True,
        )
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
