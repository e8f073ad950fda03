"""The hub is asked once whether it answers, before its package tries again and again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from rag_app.backend.hub import only_local
from rag_app.embed import SentenceTransformerEmbedder
from rag_app.rerank import CrossEncoderReranker
from rag_app.types import ModelError


class _Session:
    def __init__(self, answers: bool) -> None:
        self.answers = answers

    def head(self, url: str, timeout: float) -> None:
        if not self.answers:
            raise RuntimeError("name or service not known")


@pytest.mark.parametrize("answers", [True, False])
def test_only_this_machine_when_the_hub_does_not_answer(monkeypatch: Any, answers: bool) -> None:
    monkeypatch.setattr("huggingface_hub.get_session", lambda: _Session(answers))
    assert only_local("someone/some-model") is not answers


def test_a_folder_needs_no_hub(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.get_session", lambda: pytest.fail("the hub was asked"))
    assert only_local(str(tmp_path))


def test_without_network_a_cross_encoder_is_one_sentence_at_once(monkeypatch: Any, caplog: Any) -> None:
    monkeypatch.setattr("huggingface_hub.get_session", lambda: _Session(False))
    started = time.perf_counter()
    with pytest.raises(ModelError, match="go online once"):
        CrossEncoderReranker(model="nobody/no-such-cross-encoder", backend="torch").prepare()
    assert "Retrying" not in caplog.text
    assert time.perf_counter() - started < 20


def test_without_network_an_embedding_model_is_one_sentence_at_once(monkeypatch: Any, caplog: Any) -> None:
    monkeypatch.setattr("huggingface_hub.get_session", lambda: _Session(False))
    started = time.perf_counter()
    with pytest.raises(ModelError, match="check the name and the network"):
        SentenceTransformerEmbedder(model="nobody/no-such-embedder").embed_query("pump")
    assert "Retrying" not in caplog.text
    assert time.perf_counter() - started < 20
