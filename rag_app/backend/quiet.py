"""OpenVINO imported without its report: `import openvino` alone tells Google Analytics, unless it finds no reporter."""

from __future__ import annotations

import sys
import threading
from typing import Any

_REPORTER = "openvino_telemetry"
_LOCK = threading.Lock()


def import_openvino() -> Any:
    """The package. Its reporter is out of sight while it is imported, for which OpenVINO has a stub, then as it was."""
    with _LOCK:
        if "openvino" not in sys.modules:
            known = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == _REPORTER}
            for name in known:
                del sys.modules[name]
            sys.modules[_REPORTER] = None  # type: ignore[assignment]  # what makes an import fail
            try:
                import openvino
            finally:
                del sys.modules[_REPORTER]
                sys.modules.update(known)
    import openvino

    return openvino
