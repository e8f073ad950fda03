"""What the processor says of itself, and how many threads a model may have."""

from __future__ import annotations

import os

import pytest

from rag_app.backend import has_amx, has_bf16, thread_count
from rag_app.backend.processor import read_flags


@pytest.mark.parametrize(
    ("flags", "bf16", "amx"),
    [(("avx2", "avx512f"), False, False), (("avx512_bf16",), True, False), (("amx_bf16", "amx_tile"), True, True)],
)
def test_bf16_is_hardwares_with_avx512_or_amx(
    flags: tuple[str, ...], bf16: bool, amx: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.backend.processor._flags", lambda: frozenset(flags))
    assert (has_bf16(), has_amx()) == (bf16, amx)


def test_the_flags_are_the_first_processors() -> None:
    told = "processor\t: {}\nflags\t\t: {}\nvmx flags\t: vnmi\n\n"
    assert read_flags(told.format(0, "fpu amx_bf16") + told.format(1, "fpu avx2")) == {"fpu", "amx_bf16"}
    assert read_flags("Features\t: fp asimd\n") == frozenset()


@pytest.mark.parametrize(
    ("asked", "threads"), [("1", 1), ("100000", None), ("", None), ("two", None), ("²", None), ("1,4", 1), ("0", 1)]
)
def test_threads_are_those_asked_for_but_no_more_than_the_cores(
    asked: str, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert thread_count() == (threads or cores)
