"""Several worker processes that parse files: a crash, a hang or a bomb ends one worker and fails one file."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from rag_app.load.parsed import Failed, ReadOptions

Answer = list[dict[str, Any]]
_BATCH_FILES = 64
_BATCH_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take, and how long a fresh worker may need before its first answer on top of that."""

    seconds: float = 60.0
    memory_mb: int = 1024
    start_seconds: float = 10.0


# `-P` keeps the current folder, which may be the very folder that is loaded, out of the import path.
COMMAND = (sys.executable, "-P", "-m", "rag_app.load.worker")


def parse_all(
    files: Iterator[tuple[str, int]] | Sequence[tuple[str, int]],
    options: ReadOptions,
    *,
    limits: Limits,
    workers: int,
    command: Sequence[str] = COMMAND,
) -> Iterator[Answer]:
    """The answer for each `(path, size)`, in the order of `files`; small files travel in batches.

    At most a few batches are ahead of the consumer, so memory stays bounded; leaving the iterator ends the workers.
    """
    batches = list(_batches(files))
    if not batches:
        return
    pool = _Pool(options, limits, min(workers, len(batches)), command)
    try:
        yield from pool.run(batches)
    finally:
        pool.close()


def _batches(files: Iterator[tuple[str, int]] | Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path, length in files:
        if batch and (len(batch) >= _BATCH_FILES or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += length
    if batch:
        yield batch


class _Pool:
    """Threads, each feeding one worker process; a watchdog kills a worker that is past its time."""

    def __init__(self, options: ReadOptions, limits: Limits, workers: int, command: Sequence[str]) -> None:
        self._task = {"options": asdict(options), "seconds": limits.seconds, "memory_mb": limits.memory_mb}
        self._closed = threading.Event()
        self._ahead = threading.Semaphore(2 * workers + 2)
        self._todo: queue.SimpleQueue[tuple[int, list[str]]] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[int, list[Answer] | BaseException]] = queue.SimpleQueue()
        self._workers = [_Worker(limits, command) for _ in range(workers)]
        self._threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in self._workers]
        self._threads.append(threading.Thread(target=self._watch, daemon=True))

    def run(self, batches: list[list[str]]) -> Iterator[Answer]:
        for item in enumerate(batches):
            self._todo.put(item)
        for thread in self._threads:
            thread.start()
        waiting: dict[int, list[Answer]] = {}
        for place in range(len(batches)):
            while place not in waiting:
                number, answers = self._done.get()
                if isinstance(answers, BaseException):
                    raise answers
                waiting[number] = answers
            yield from waiting.pop(place)
            self._ahead.release()

    def close(self) -> None:
        self._closed.set()
        for worker in self._workers:
            worker.kill()
        for _ in self._threads:
            self._ahead.release()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(timeout=5)
        for worker in self._workers:
            worker.stop()

    def _serve(self, worker: _Worker) -> None:
        try:
            while not self._closed.is_set():
                self._ahead.acquire()
                try:
                    number, batch = self._todo.get_nowait()
                except queue.Empty:
                    return
                self._done.put((number, self._parse(worker, batch)))
        except BaseException as error:
            self._done.put((-1, error))

    def _parse(self, worker: _Worker, batch: list[str]) -> list[Answer]:
        answers: list[Answer] = []
        while len(answers) < len(batch) and not self._closed.is_set():
            rest = batch[len(answers) :]
            # A worker that ended while it had nothing to do is started again; that is no file's fault.
            if not worker.send({**self._task, "files": rest}):
                worker.end()
                worker.send({**self._task, "files": rest})
            for _ in rest:
                line = worker.receive()
                if not line.endswith("\n"):
                    break
                answers.append(json.loads(line)["results"])
            if len(answers) < len(batch) and not self._closed.is_set():
                answers.append([asdict(worker.end())])
        worker.rest()
        return answers

    def _watch(self) -> None:
        while not self._closed.wait(0.1):
            for worker in self._workers:
                worker.kill_when_late()


class _Worker:
    """One worker process, started when first needed and again after it ended."""

    def __init__(self, limits: Limits, command: Sequence[str]) -> None:
        self._limits = limits
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._deadline = float("inf")
        self._late = self._stopped = False

    def send(self, task: dict[str, Any]) -> bool:
        with self._lock:
            if self._stopped:
                return False
            fresh = self._process is None
            if self._process is None:
                self._process = _start(self._command)
            extra = self._limits.start_seconds if fresh else 0.0
            self._deadline = time.monotonic() + self._limits.seconds + extra
            stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(task) + "\n")
            stdin.flush()
        except OSError:
            return False
        return True

    def receive(self) -> str:
        process = self._process
        if process is None or process.stdout is None:
            return ""
        line = process.stdout.readline()
        self._deadline = time.monotonic() + self._limits.seconds
        return line

    def rest(self) -> None:
        """Nothing is asked of the worker now, however long the consumer takes."""
        self._deadline = float("inf")

    def end(self) -> Failed:
        """Take the process away, and say why it ended."""
        with self._lock:
            process, self._process = self._process, None
            late, self._late, self._deadline = self._late, False, float("inf")
        code = 0
        if process is not None:
            _close(process)
            code = process.wait()
        if late or (os.name == "posix" and code == -getattr(signal, "SIGXCPU", 24)):
            return Failed("", "timeout", f"took longer than {self._limits.seconds:g} seconds; raise load.timeout")
        if os.name == "posix" and code == -signal.SIGKILL:
            return Failed("", "memory", "the system ended its reader, most likely for want of memory")
        name = signal.Signals(-code).name if os.name == "posix" and code < 0 else f"exit code {code}"
        return Failed("", "crash", f"its reader crashed ({name})")

    def kill_when_late(self) -> None:
        with self._lock:
            if self._process is not None and time.monotonic() > self._deadline:
                self._late = True
                self._process.kill()

    def kill(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def stop(self) -> None:
        if self._process is not None:
            _close(self._process)
            self._process.wait()
            self._process = None


def _start(command: Sequence[str]) -> subprocess.Popen[str]:
    # A new interpreter, never a fork: the parent may hold threads of numeric libraries. Its path is the parent's.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    # The memory limit counts address space, and each numeric thread pool reserves some.
    environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MALLOC_ARENA_MAX="2")
    return subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="ascii",
        env=environment,
    )


def _close(process: subprocess.Popen[str]) -> None:
    with suppress(OSError):
        process.kill()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
