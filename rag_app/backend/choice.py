"""Which backend a setting means on this machine."""

from __future__ import annotations

import importlib.util
from typing import Literal

from rag_app.types import MissingExtraError

Backend = Literal["auto", "torch", "openvino"]


def openvino_wanted(backend: Backend) -> bool:
    """Whether to try OpenVINO; MissingExtraError when it is asked for by name and not installed."""
    if backend == "torch":
        return False
    installed = importlib.util.find_spec("openvino") is not None
    if backend == "openvino" and not installed:
        raise MissingExtraError("openvino", "fast", "`backend: openvino`")
    return installed


def refusal(precision: str, measure: str, found: float, least: float) -> str:
    """Why a precision was not taken, in words."""
    return f"{precision} was refused: {measure} {found:.6f} with torch's fp32, {least:g} is needed"
