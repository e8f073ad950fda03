"""Text that is no Unicode, as a shell or JSON may give it: embedded with U+FFFD in place of what no model reads."""

from __future__ import annotations

import numpy as np
import pytest

from rag_app.embed import HashingEmbedder, PackagedEmbedder
from rag_app.text.normalize import well_formed


def test_only_lone_surrogates_are_replaced() -> None:
    assert well_formed("K\udcf6ln \ud800") == "K\ufffdln \ufffd"
    assert well_formed("\ud83d\ude00 Köln 😀") == "😀 Köln 😀"
    assert well_formed("plain") == "plain"


@pytest.mark.model
def test_a_query_and_a_passage_with_a_lone_surrogate_are_embedded() -> None:
    embedder = PackagedEmbedder()
    rows = embedder.encode(["K\udcf6ln", "K\ufffdln"])
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(embedder.encode(["K\udcf6ln"], query=True)[0], rows[0])
    assert len(embedder.token_vectors(["K\udcf6ln"])[0])
    assert embedder.count_tokens("K\udcf6ln") == embedder.count_tokens("K\ufffdln")


def test_every_embedder_takes_them() -> None:
    assert HashingEmbedder().encode(["K\udcf6ln"]).shape[0] == 1
