"""Writers that are killed, and writers and readers at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex

Pair = Callable[..., Any]

EMBEDDER = HashingEmbedder(dimensions=16)

WRITER = """
import sys
from langchain_core.documents import Document
from rag_app.embed import HashingEmbedder
from rag_app.index import IndexSettings, LocalIndex
from rag_app.types import LoadedDocument
path, start = sys.argv[1], int(sys.argv[2])
index = LocalIndex.open_or_create(
    path, embedder=HashingEmbedder(dimensions=8), settings=IndexSettings(segments_per_tier=2)
)
print("ready", flush=True)
for n in range(start, 10_000):
    text = f"pump {n}"
    index.upsert(LoadedDocument(id=f"d{n}", page_content=text), [Document(id=f"c{n}", page_content=text)], replace="id")
    if n % 3 == 2:
        index.delete(ids=[f"d{n - 2}"])
    index.commit()
    print(n, flush=True)
"""


def test_a_killed_writer_loses_only_what_it_had_not_committed(tmp_path: Path) -> None:
    chance, path, start = random.Random(7), tmp_path / "index", 0
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(start)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.05, 0.6))
        os.kill(process.pid, signal.SIGKILL)
        told = [int(line) for line in process.stdout.read().split()]
        process.stdout.close()
        process.wait()
        acknowledged = told[-1] if told else start - 1
        index = LocalIndex.open(path, embedder=HashingEmbedder(dimensions=8))
        assert index.verify() == []
        # The last commit may have come through without being told of.
        assert index.chunk_ids() in (expected_after(acknowledged), expected_after(acknowledged + 1))
        start = acknowledged + 1 if index.chunk_ids() == expected_after(acknowledged) else acknowledged + 2


def expected_after(last: int) -> list[str]:
    """The chunks when every n up to `last` was put in, and every third step took out the one two before."""
    gone = {n - 2 for n in range(last + 1) if n % 3 == 2}
    return sorted(f"c{n}" for n in range(last + 1) if n not in gone)


def test_two_writers_and_two_readers_at_once_see_whole_commits(tmp_path: Path, pair: Pair) -> None:
    path = tmp_path / "index"
    LocalIndex.create(path, embedder=EMBEDDER).close()
    stop, errors, written = time.monotonic() + 20, [], [0, 0]

    def write(who: int) -> None:
        try:
            while time.monotonic() < stop and min(written) < 4 and written[who] < 40:
                with LocalIndex.open(path, embedder=EMBEDDER) as index:
                    index.upsert(*pair(f"{who}-{written[who]}.txt", ["pump one", "pump two"]))
                written[who] += 1
        except Exception as error:
            errors.append(error)

    def read() -> None:
        try:
            index = LocalIndex.open(path, embedder=EMBEDDER)
            while time.monotonic() < stop and min(written) < 4:
                index.refresh()
                count = len(index)
                assert count % 2 == 0
                assert len(index.bm25("pump", k=10_000)) == count
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(0,)), threading.Thread(target=write, args=(1,))]
    threads += [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(LocalIndex.open(path)) == 2 * sum(written)
    assert min(written) > 0
