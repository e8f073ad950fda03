"""What the tests of synthesis share: a real endpoint over HTTP, and a little evidence."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.documents import Document


def load_openai_server() -> ModuleType:
    """tests/openai_server.py as a module; the tests are no package."""
    name = "rag_app_tests_openai_server"
    if name not in sys.modules:
        path = Path(__file__).parent.parent / "openai_server.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def openai() -> ModuleType:
    """The module with `ChatServer` and `Step`."""
    return load_openai_server()


@pytest.fixture
def server(openai: ModuleType) -> Iterator[Any]:
    """A running endpoint; set `server.script`."""
    with openai.ChatServer() as running:
        yield running


@pytest.fixture
def evidence() -> list[Document]:
    """Three passages of two documents."""
    return [
        Document(
            "The MX-400 pump weighs 12 kg. It starts at most 40 times per hour.",
            id="d1:100-166",
            metadata={"source": "datasheet.md", "doc_id": "d1", "start_index": 100, "end_index": 166, "page": 2},
        ),
        Document(
            "Invoices are due 45 days after receipt of the goods.",
            id="d2:0-52",
            metadata={"source": "contract.txt", "doc_id": "d2", "start_index": 0, "end_index": 52},
        ),
        Document(
            "Use {json: 1} or {question} in the config.",
            id="d3:0-42",
            metadata={"source": "config.md", "doc_id": "d3", "start_index": 0, "end_index": 42},
        ),
    ]
