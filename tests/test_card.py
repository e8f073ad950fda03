"""The card gives a reason for whatever is chosen, and each reason to its own stage."""

from __future__ import annotations

from typing import get_args

import pytest

from rag_app.card import WHY
from rag_app.expand import Expansion
from rag_app.rerank import Reranking
from rag_app.retrieve import Retriever
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
