"""The card gives a reason for whatever is chosen, and each reason to its own stage."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from rag_app.card import WHY, pipeline_card
from rag_app.embed import HashingEmbedder, packaged
from rag_app.expand import Expansion
from rag_app.index import LocalIndex
from rag_app.rerank import Reranking
from rag_app.retrieve import Retriever
from rag_app.settings import Settings
from rag_app.split import Splitter
from rag_app.synthesize import Synthesis
from rag_app.verify import Verifier


def kinds(union: object) -> set[str]:
    """What `kind` can be in a stage's setting."""
    members = get_args(union)
    found = {str(member.model_fields["kind"].default) for member in members if hasattr(member, "model_fields")}
    return found | {kind for member in members for kind in kinds(member)}


@pytest.mark.parametrize(
    ("section", "known"),
    [
        ("chunking", kinds(Splitter)),
        ("retrieval", kinds(Retriever) - {"hybrid"}),
        ("reranking", kinds(Reranking)),
        ("expansion", kinds(Expansion)),
        ("synthesis", kinds(Synthesis)),
        ("verification", set(get_args(Verifier.model_fields["level"].annotation))),
    ],
)
def test_every_choice_has_its_reason(section: str, known: set[str]) -> None:
    assert known
    assert known <= set(WHY[section])


def test_an_index_has_a_card_where_its_model_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "is_installed", lambda: False)
    packaged._load.cache_clear()
    with LocalIndex.create(tmp_path / "index", embedder=HashingEmbedder()) as index:
        card = pipeline_card(Settings(), index)
    packaged._load.cache_clear()
    assert "rag-app[local]" in card["embedding"]["computed_by"]
    assert card["reranking"]["why"]
