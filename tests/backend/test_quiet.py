"""OpenVINO is imported without its report over the network, and its reporter left as it was."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("openvino_telemetry", reason="OpenVINO is not installed (extra `fast`)")

PROGRAM = """
import json, sys
before = {before}
calls = []
watched = ('socket.connect', 'socket.getaddrinfo', 'subprocess.Popen', 'os.fork', 'os.posix_spawn')
sys.addaudithook(lambda event, args: calls.append(event) if event in watched else None)
from rag_app.backend.quiet import import_openvino
openvino = import_openvino()
assert import_openvino() is openvino is sys.modules['openvino']
assert openvino.Core().available_devices
print(json.dumps([calls, sys.modules.get('openvino_telemetry') is before]))
"""


@pytest.mark.parametrize("before", ["None", "__import__('openvino_telemetry')"])
def test_nobody_is_called_and_the_reporter_is_as_it_was(before: str) -> None:
    program = PROGRAM.format(before=before)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], True]
