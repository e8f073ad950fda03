"""The worker process: `python -m rag_app.load.worker` reads one task a line and answers one line a file.

A task is `{"files": [path, ...], "options": {...}, "seconds": s, "memory_mb": m}`, an answer `{"results": [...]}`, in
the order of the files. Plain JSON over pipes: nothing that is read from a file is ever executed or unpickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import IO, Any

from rag_app.load.parsed import Failed, Parsed, ReadOptions, Result
from rag_app.load.read import read
from rag_app.load.walk import readable


def main() -> None:
    """Serve tasks until standard input closes."""
    sys.setrecursionlimit(5000)
    # Readers and the C libraries below them must not write into the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    for line in sys.stdin:
        task = json.loads(line)
        limit_memory(int(task["memory_mb"]))
        for path in task["files"]:
            limit_seconds(float(task["seconds"]))
            results = read_file(
                path, ReadOptions(**{**task["options"], "passwords": tuple(task["options"]["passwords"])})
            )
            answer(answers, results)


def answer(stream: IO[str], results: list[dict[str, Any]]) -> None:
    """Write one answer; one that is too large for the limit becomes a failure."""
    try:
        line = json.dumps({"results": results})
    except MemoryError:
        fault = Failed("", "memory", "its text needs more memory than the limit; raise load.memory_limit_mb")
        line = json.dumps({"results": [asdict(fault)]})
    stream.write(line + "\n")
    stream.flush()


def read_file(path: str, options: ReadOptions) -> list[dict[str, Any]]:
    """The documents and failures of one file as plain values, with the facts of the file in the metadata."""
    try:
        with open(path, "rb") as file:
            data = file.read()
            stat = os.fstat(file.fileno())
    except OSError as error:
        return [asdict(Failed("", "unreadable", f"the file cannot be read: {error.strerror or error}"))]
    except MemoryError:
        return [asdict(Failed("", "memory", "larger than the memory limit; raise load.memory_limit_mb"))]
    facts = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
        "mtime": datetime.fromtimestamp(int(stat.st_mtime), UTC).isoformat(),
    }
    return [plain(result, facts) for result in read(data, readable(os.path.basename(path)), options)]


def plain(result: Result, facts: dict[str, Any]) -> dict[str, Any]:
    """A result as plain values; facts of the file stand beside what its reader found."""
    if isinstance(result, Failed):
        return asdict(result)
    values = {field: getattr(result, field) for field in Parsed.__slots__}
    return {**values, "metadata": {**facts, **result.metadata}}


def limit_memory(megabytes: int) -> None:
    """Bound the address space of this process, where the system can; a reader then meets MemoryError."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1024 * 1024, resource.getrlimit(resource.RLIMIT_AS)[1]))


def limit_seconds(seconds: float) -> None:
    """Bound the CPU seconds from now on, so that a loop ends even when the parent is gone."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + 2 * seconds) + 2, hard))


if __name__ == "__main__":
    main()
