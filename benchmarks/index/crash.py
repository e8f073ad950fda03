"""Kill -9 a writer at random moments (add, delete, merge, first build); the index must hold what was acknowledged.

python benchmarks/index/crash.py --rounds 200
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import tempfile
import time
from pathlib import Path

from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.index import IndexSettings, LocalIndex
from rag_app.types import LoadedDocument

EMBEDDER = HashingEmbedder(dimensions=8)
SETTINGS = IndexSettings(segments_per_tier=2)


def write(path: Path, start: int, told: int) -> None:
    """Put in, take out, commit and tell, until killed."""
    index = LocalIndex.open_or_create(path, embedder=EMBEDDER, settings=SETTINGS)
    for n in range(start, 1_000_000):
        text = f"pump number {n} of the hall"
        index.upsert(
            LoadedDocument(id=f"d{n}", page_content=text), [Document(id=f"c{n}", page_content=text)], replace="id"
        )
        if n % 3 == 2:
            index.delete(ids=[f"d{n - 2}"])
        index.commit()
        if n % 7 == 6:
            index.merge()
        os.write(told, f"{n}\n".encode())


def expected_after(last: int) -> list[str]:
    """The chunks after step `last`."""
    gone = {n - 2 for n in range(last + 1) if n % 3 == 2}
    return sorted(f"c{n}" for n in range(last + 1) if n not in gone)


def one_round(path: Path, start: int, seconds: float) -> int:
    """Start a writer, kill it, check the index; the next number to write."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        try:
            write(path, start, send)
        finally:
            os._exit(1)
    os.close(send)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the writer ended by itself"
    with os.fdopen(receive) as pipe:
        told = [int(line) for line in pipe.read().splitlines()]
    acknowledged = told[-1] if told else start - 1
    if not LocalIndex.exists(path):
        assert acknowledged < 0, "an acknowledged index is gone"
        return start
    index = LocalIndex.open(path, embedder=EMBEDDER)
    faults = index.verify()
    assert not faults, faults
    ids = index.chunk_ids()
    for last in (acknowledged, acknowledged + 1):  # the last commit may have come through without being told of
        if ids == expected_after(last):
            assert len(index.bm25("pump", k=10**6)) == len(index.dense("pump", k=10**6)) == len(ids)
            return last + 1
    raise AssertionError(f"after step {acknowledged} the index holds {len(ids)} chunks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=0.6, help="seconds a writer lives at most")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    folder = Path(tempfile.mkdtemp())
    steps, start = 0, 0
    try:
        for number in range(arguments.rounds):
            if number % 20 == 0:  # the first build is killed too
                shutil.rmtree(folder / "index", ignore_errors=True)
                start = 0
            after = one_round(folder / "index", start, chance.uniform(0.002, arguments.longest))
            steps, start = steps + after - start, after
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({"rounds": arguments.rounds, "commits": steps, "faults": 0}))


if __name__ == "__main__":
    main()
