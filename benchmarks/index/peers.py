"""Hybrid search beside LlamaIndex, LanceDB, txtai and Haystack, each in its own environment: one run, interleaved.

    OMP_NUM_THREADS=1 python benchmarks/index/peers.py CORPUS.jsonl QUERIES.jsonl --chunks 10000 \\
        --python llamaindex=ENV/bin/python --python lancedb=ENV/bin/python ...

Every stack is a process that builds its index over the same texts and the same random vectors, then answers questions
by number, ten to each stack in turn; the vector of a question is given, so no stack is charged for embedding. CPU time
of the process, all its threads; ratios are the peer's figure over ours. The adapters are in `adapters.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from common import unit_rows, vector_of, windows

HERE = Path(__file__).parent


class Stack:
    """A stack in a process of its own, asked through its standard input."""

    def __init__(self, name: str, python: str, folder: Path) -> None:
        command = [python, str(HERE / "adapters.py"), name, str(folder)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        self.built = self.answer()

    def answer(self) -> Any:
        """The next line of JSON; what else a stack prints is passed over."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith('{"answer": '):
                return json.loads(line)["answer"]
        raise RuntimeError(f"{self.process.args} ended")

    def ask(self, numbers: range) -> list[dict[str, float]]:
        """CPU and wall milliseconds of each question, and how many hits it had."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(list(numbers)) + "\n")
        self.process.stdin.flush()
        result: list[dict[str, float]] = self.answer()
        return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--python", action="append", default=[], metavar="STACK=PYTHON")
    arguments = parser.parse_args()
    questions = [json.loads(line)["text"] for line in arguments.queries.open(encoding="utf-8")][: arguments.questions]
    folder = Path(tempfile.mkdtemp())
    (folder / "texts.json").write_text(json.dumps(list(windows(arguments.corpus, arguments.chunks))))
    (folder / "questions.json").write_text(json.dumps(questions))
    np.save(folder / "vectors.npy", unit_rows(arguments.chunks))
    np.save(folder / "asked.npy", np.stack([vector_of(question) for question in questions]))
    pythons = {"ours": sys.executable, **dict(pair.split("=", 1) for pair in arguments.python)}
    stacks: dict[str, Stack] = {}
    try:
        for name, python in pythons.items():
            try:
                stacks[name] = Stack(name, python, folder)
            except (RuntimeError, OSError) as error:
                print(f"{name}: {error}", file=sys.stderr)
        times: dict[str, list[dict[str, float]]] = {name: [] for name in stacks}
        for stack in stacks.values():
            stack.ask(range(min(10, len(questions))))  # warm
        for start in range(0, len(questions), 10):
            for name, stack in stacks.items():
                times[name] += stack.ask(range(start, min(start + 10, len(questions))))
    finally:
        for stack in stacks.values():
            stack.process.kill()
            stack.process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"| {arguments.chunks} chunks | build CPU s | query CPU ms | ratio to ours | query wall ms | hits |")
    print("|---|---|---|---|---|---|")
    ours = float(np.median([one["cpu"] for one in times["ours"]]))
    for name, found in times.items():
        cpu, wall, hits = (float(np.median([one[key] for one in found])) for key in ("cpu", "wall", "hits"))
        built = stacks[name].built
        stack = f"{name} {built['version']}"
        print(f"| {stack} | {built['cpu']:.2f} | {cpu:.2f} | {cpu / ours:.1f}x | {wall:.2f} | {hits:g} |")
    print(f"\nload average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
