"""A graph compiled for this processor, in the smallest numbers that keep what the model says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from rag_app.backend.choice import refusal
from rag_app.backend.processor import has_bf16, thread_count
from rag_app.backend.quiet import import_openvino
from rag_app.types import ModelError

if TYPE_CHECKING:
    import openvino as ov

Precision = Literal["auto", "bf16", "fp32"]
Floats = npt.NDArray[np.float32]
# A new width costs OpenVINO 3 ms of making kernels, as much as a query; four more tokens cost a tenth of that.
_STEP = 4


@dataclass(frozen=True, slots=True)
class Batch:
    """Token ids of some texts: (n, width) each; `mask` is 1 where there is a token."""

    ids: npt.NDArray[np.int32]
    types: npt.NDArray[np.int32]
    mask: Floats

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None, *, step: int = 1) -> Batch:
        """Rows padded to the longest, and on to a multiple of `step`."""
        width = -(-max(map(len, rows)) // step) * step
        ids, kinds = np.zeros((len(rows), width), np.int32), np.zeros((len(rows), width), np.int32)
        mask = np.zeros((len(rows), width), np.float32)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
            if types is not None:
                kinds[i, : len(row)] = types[i]
        return cls(ids, kinds, mask)


class CompiledModel:
    """One graph, compiled; `run` gives its output. Safe under threads: one inference at a time, on all its threads."""

    def __init__(self, model: ov.Model, precision: str, *, widest: int) -> None:
        ov = import_openvino()
        core = ov.Core()
        options: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": {"bf16": ov.Type.bf16, "fp32": ov.Type.f32}[precision],
            "INFERENCE_NUM_THREADS": thread_count(),
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        self.precision = precision
        self.widest = widest
        self._request = core.compile_model(model, "CPU", options).create_infer_request()
        self._lock = threading.Lock()

    def run(self, rows: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None) -> tuple[Floats, Floats]:
        """The output for token ids, and the mask they were given with."""
        step = _STEP if max(map(len, rows)) + _STEP <= self.widest else 1
        batch = Batch.of(rows, types, step=step)
        with self._lock:
            self._request.infer([batch.ids, batch.types, batch.mask], share_inputs=True)
            return np.array(self._request.get_output_tensor(0).data, dtype=np.float32), batch.mask


@dataclass(frozen=True, slots=True)
class Checked:
    """A compiled model held against the reference: `agreement` is how near it came, `note` what was refused."""

    model: CompiledModel
    agreement: float
    note: str = ""


def compile_checked(
    model: ov.Model,
    precision: Precision,
    *,
    widest: int,
    agreement: Callable[[CompiledModel], float],
    least: float,
    measure: str,
) -> Checked:
    """The model in bf16 where the processor has it and the canaries agree, else in fp32; what was refused is told.

    ModelError when even fp32 does not agree with the reference: then the graph is not the model.
    """
    note = ""
    wanted: tuple[str, ...] = ("fp32",)
    if precision == "bf16" or (precision == "auto" and has_bf16()):
        wanted = ("bf16", "fp32")
    for each in wanted:
        compiled = CompiledModel(model, each, widest=widest)
        found = agreement(compiled)
        if found >= least:
            return Checked(compiled, found, note)
        note = refusal(each, measure, found, least)
    raise ModelError(f"OpenVINO does not give what torch gives ({note}); set the backend to torch")


def version() -> str:
    """OpenVINO's version, without its build."""
    return str(import_openvino().__version__).partition("-")[0]
