"""What a manifest says of its embedder, and what it has no say in."""

from __future__ import annotations

from typing import Any

import pytest

from rag_app.embed import HashingEmbedder, SentenceTransformerEmbedder
from rag_app.index.local.identity import _settings, embedder_of
from rag_app.types import ConfigError, IndexMismatchError


def manifest(**settings: Any) -> dict[str, Any]:
    return {"embedder": {"name": "a model", "settings": settings}}


def test_the_settings_of_a_manifest_make_the_embedder_again() -> None:
    built = HashingEmbedder()
    assert embedder_of({"embedder": {"name": built.name, "settings": _settings(built)}}) == built


def test_an_index_cannot_make_the_machine_that_opens_it_run_code_or_take_a_device() -> None:
    trusting = SentenceTransformerEmbedder(model="org/with-code", device="cuda", trust_remote_code=True)
    assert not {"trust_remote_code", "device"} & set(_settings(trusting) or {})
    opened = embedder_of(manifest(**trusting.model_dump(mode="json")))
    assert isinstance(opened, SentenceTransformerEmbedder)
    assert (opened.model, opened.device, opened.trust_remote_code) == ("org/with-code", None, False)


@pytest.mark.parametrize("settings", [{"kind": "of tomorrow"}, {"kind": "hashing", "of_tomorrow": 1}])
def test_an_embedder_that_this_version_does_not_know_is_named(settings: dict[str, Any]) -> None:
    with pytest.raises(IndexMismatchError, match=r"'a model'.*pass the embedder"):
        embedder_of(manifest(**settings))


def test_a_manifest_does_not_choose_the_server_that_texts_and_keys_go_to() -> None:
    with pytest.raises(ConfigError, match="pass the embedder if that server is yours"):
        embedder_of(manifest(kind="openai", model="text-embedding-3-small", base_url="http://203.0.113.7/v1"))
    assert embedder_of(manifest(kind="openai", model="text-embedding-3-small")).kind == "openai"
