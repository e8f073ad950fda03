from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from rag_app.load.parsed import ReadOptions
from rag_app.load.pool import COMMAND, Limits, parse_all

# A worker that answers with the name of the file, and hangs, crashes or babbles on files of that name.
WORKER = """
import json, os, sys, time
for line in sys.stdin:
    for path in json.loads(line)["files"]:
        if path == "hang":
            time.sleep(60)
        if path == "crash":
            os.abort()
        if path == "cut":
            print('{"results": [', end="", flush=True)
            os._exit(3)
        print(json.dumps({"results": [{"part": path}]}), flush=True)
"""


def run(*names: str, workers: int = 2, size: int = 1) -> list[str]:
    limits = Limits(seconds=0.5, start_seconds=3.0)
    answers = parse_all(
        [(name, size) for name in names],
        ReadOptions(),
        limits=limits,
        workers=workers,
        command=[sys.executable, "-I", "-S", "-c", WORKER],
    )
    return [answer[0].get("error") or answer[0]["part"] for answer in answers]


def test_answers_come_in_order_from_several_workers() -> None:
    names = [f"f{n}" for n in range(50)]
    assert run(*names, workers=3, size=200_000) == names


@pytest.mark.parametrize(("bad", "error"), [("hang", "timeout"), ("crash", "crash"), ("cut", "crash")])
def test_a_bad_file_fails_alone_and_its_batch_goes_on(bad: str, error: str) -> None:
    assert run("a", bad, "b", workers=1) == ["a", error, "b"]


def test_two_bad_files_in_one_batch_both_fail() -> None:
    assert run("crash", "a", "crash", "cut", "b") == ["crash", "a", "crash", "crash", "b"]


def test_a_slow_consumer_is_no_fault_of_the_files() -> None:
    answers = parse_all(
        [(name, 600_000) for name in "abcdefgh"],
        ReadOptions(),
        limits=Limits(seconds=0.2, start_seconds=3.0),
        workers=1,
        command=[sys.executable, "-I", "-S", "-c", WORKER],
    )
    seen = []
    for answer in answers:
        seen.append(answer[0].get("error") or answer[0]["part"])
        time.sleep(0.3)
    assert "".join(seen) == "abcdefgh"


def test_nothing_to_parse_starts_nothing() -> None:
    assert run() == []


def test_leaving_early_ends_a_hanging_worker_at_once() -> None:
    started = time.monotonic()
    answers = parse_all(
        [("a", 600_000), ("hang", 600_000)],
        ReadOptions(),
        limits=Limits(seconds=30),
        workers=2,
        command=[sys.executable, "-I", "-S", "-c", WORKER],
    )
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 10


def test_a_program_that_is_not_there_is_an_error_and_no_hang() -> None:
    with pytest.raises(FileNotFoundError):
        list(parse_all([("a", 1)], ReadOptions(), limits=Limits(), workers=1, command=["no-such-program-here"]))


def test_more_memory_than_the_limit_fails_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_bytes(b"words and words\n" * 12_000_000)
    (tmp_path / "small.txt").write_text("x")
    files = [(str(tmp_path / name), (tmp_path / name).stat().st_size) for name in ("big.txt", "small.txt")]
    limits = Limits(seconds=30, memory_mb=320)
    big, small = parse_all(files, ReadOptions(), limits=limits, workers=1, command=COMMAND)
    assert big[0]["error"] == "memory"
    assert small[0]["text"] == "x"
