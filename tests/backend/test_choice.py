"""auto, torch or openvino: a setting, with a clear error."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from rag_app.backend import openvino_wanted
from rag_app.embed import PackagedEmbedder
from rag_app.rerank import CrossEncoderReranker
from rag_app.types import MissingExtraError

INSTALLED = importlib.util.find_spec("openvino") is not None


@pytest.fixture
def without_openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "openvino" else found(name, *a))


def test_auto_takes_it_when_it_is_installed_and_torch_never() -> None:
    assert openvino_wanted("auto") is INSTALLED
    assert not openvino_wanted("torch")


def test_asked_for_and_not_installed_names_the_extra(without_openvino: None) -> None:
    assert not openvino_wanted("auto")
    with pytest.raises(MissingExtraError, match=r"rag-app\[fast\]"):
        openvino_wanted("openvino")
    with pytest.raises(MissingExtraError, match=r"rag-app\[fast\]"):
        PackagedEmbedder(backend="openvino").encode(["a"])
    with pytest.raises(MissingExtraError, match=r"rag-app\[fast\]"):
        CrossEncoderReranker(backend="openvino", model="any").compress_documents([_document()], "q")


@pytest.mark.model
def test_auto_without_it_is_torch(without_openvino: None) -> None:
    assert str(PackagedEmbedder().computed_by).startswith("torch ")


def _document() -> Any:
    from langchain_core.documents import Document

    return Document("a")
