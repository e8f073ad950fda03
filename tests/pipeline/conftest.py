"""The index of the small corpus."""

from __future__ import annotations

from typing import Any

import pytest
from pump_corpus import FILES

from rag_app.pipeline import build_index
from rag_app.settings import Settings


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings.resolve(None, ["embed.kind=hashing", "rerank.kind=none"])


@pytest.fixture(scope="module")
def index(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("pipeline")
    docs = folder / "docs"
    docs.mkdir()
    for name, text in FILES.items():
        (docs / name).write_text(text, encoding="utf-8")
    built, report = build_index(settings, [docs], folder / "index")
    assert (report.documents, report.failed) == (3, ())
    return built
