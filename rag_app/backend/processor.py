"""What the processor can do, as far as it says."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from pathlib import Path


@functools.cache
def _flags() -> frozenset[str]:
    """The processor's features; none where nobody can tell."""
    try:
        return read_flags(Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore"))
    except OSError:
        return frozenset()


def read_flags(text: str) -> frozenset[str]:
    """The features of the first processor in what Linux tells of them all."""
    lines = (line.partition(":")[2] for line in text.splitlines() if line.startswith("flags"))
    return frozenset(next(lines, "").split())


def has_amx() -> bool:
    """Whether the processor multiplies whole bf16 matrices in hardware."""
    return "amx_bf16" in _flags()


def has_bf16() -> bool:
    """Whether the processor multiplies bf16 numbers in hardware: then they are 1.8 to 3 times as fast as fp32."""
    return not _flags().isdisjoint(("amx_bf16", "avx512_bf16"))


def has_gpu() -> bool:
    """Whether there are signs of a GPU that torch could use, found without importing torch."""
    devices = ("/dev/nvidiactl", "/dev/kfd")
    return any(map(os.path.exists, devices)) or shutil.which("nvidia-smi") is not None or sys.platform == "darwin"


def thread_count() -> int:
    """The threads a model may have: OMP_NUM_THREADS, but no more than the cores this process may run on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(cores, max(1, int(asked))) if asked.isdecimal() else cores
