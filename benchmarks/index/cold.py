"""What a command costs from a cold process, and how much of it is ours.

    OMP_NUM_THREADS=1 python benchmarks/index/cold.py CORPUS.jsonl QUERIES.jsonl --chunks 100000 --rounds 9

Each round runs, in turn, `import typer, langchain_core.retrievers` (what every LangChain command line imports), a
Python that does nothing, and each command; figures are medians. `ours` is the wall time of a command less that of the
imports of others in the same run. Byte code is kept for all sides, as an installation keeps it. Prints a line of JSON
for each command; `cpu` counts the processor's time of the same processes, which the neighbors disturb less.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import build_ours, unit_rows, windows

OTHERS = "import typer, langchain_core.retrievers"
# The console script, wherever the package is installed.
RUN = "from rag_app.cli import main; main()"


def spent(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """(wall, CPU) seconds of a process that must succeed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(index: Path, question: str) -> dict[str, list[str]]:
    """Each command by its name."""
    ask = [question, "--index", str(index), "--json"]
    arguments = {
        "--help": ["--help"],
        "search --ranking bm25": ["search", *ask, "--ranking", "bm25"],
        "search": ["search", *ask],
        "ask": ["ask", *ask],
    }
    return {name: [sys.executable, "-c", RUN, *words] for name, words in arguments.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--index", type=Path, help="an index from an earlier run; else one is built, and removed")
    arguments = parser.parse_args()
    question = json.loads(arguments.queries.open(encoding="utf-8").readline())["text"]
    with tempfile.TemporaryDirectory() as folder:
        index = arguments.index or Path(folder) / "index"
        if not index.exists():
            from rag_app.embed import PackagedEmbedder

            build_ours(
                index, windows(arguments.corpus, arguments.chunks), unit_rows(arguments.chunks), PackagedEmbedder()
            )
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        runs = {"python": [sys.executable, "-c", "pass"], "others": [sys.executable, "-c", OTHERS]}
        runs |= commands(index, question)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        for turn in range(arguments.rounds + 1):
            for name, command in runs.items():
                measured = spent(command, environment)
                if turn:  # the first round writes the byte code and brings the files into memory
                    times[name].append(measured)
    wall = {name: statistics.median(one for one, _ in found) for name, found in times.items()}
    cpu = {name: statistics.median(one for _, one in found) for name, found in times.items()}
    print(json.dumps({"command": "python -c pass", "wall": round(wall["python"], 3), "cpu": round(cpu["python"], 3)}))
    for name in list(runs)[2:]:
        figures = {"wall": wall[name], "others": wall["others"], "ours": wall[name] - wall["others"]}
        figures |= {"cpu": cpu[name], "ours_cpu": cpu[name] - cpu["others"]}
        print(json.dumps({"command": name, **{key: round(value, 3) for key, value in figures.items()}}))


if __name__ == "__main__":
    main()
