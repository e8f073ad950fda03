"""Weights follow what was measured: the figures of a trial on five collections."""

from __future__ import annotations

import pytest

from rag_app.retrieve.arms import auto_weights, diagnosis, refinement, trust
from rag_app.retrieve.measure import stale


def notes(ratio: float | None, pieces: float) -> dict[str, object]:
    return {"arms": {"ratio": ratio, "pieces_per_word": pieces, "chunks": 100}}


@pytest.mark.parametrize(("ratio", "pieces"), [(0.77, 1.11), (1.08, 1.09), (0.88, 1.31)])
def test_an_embedder_that_knows_the_language_is_trusted(ratio: float, pieces: float) -> None:
    assert trust(notes(ratio, pieces)) == 1.0
    assert diagnosis(notes(ratio, pieces)) is None


@pytest.mark.parametrize(("ratio", "pieces"), [(0.83, 2.09), (0.24, 7.26)])
def test_an_embedder_that_does_not_know_the_language_is_not(ratio: float, pieces: float) -> None:
    assert trust(notes(ratio, pieces)) == 0.0
    assert auto_weights(notes(ratio, pieces))["dense"] < 0.01
    assert auto_weights(notes(ratio, pieces), fusion="linear") == {"bm25": 0.8, "dense": 0.2}
    assert "does not know this corpus's language" in str(diagnosis(notes(ratio, pieces)))


def test_broken_words_alone_do_not_condemn_an_embedder_that_finds_things() -> None:
    assert trust(notes(1.3, 2.2)) == 1.0


def test_nothing_measured_means_trust_and_a_small_corpus_goes_by_its_words() -> None:
    assert trust({}) == 1.0
    assert trust(notes(None, 1.2)) == 1.0
    assert trust(notes(None, 7.0)) == 0.0


def test_arms_are_measured_again_when_the_corpus_has_changed_by_a_fifth() -> None:
    assert stale({}, 10)
    assert not stale(notes(1, 1), 110)
    assert stale(notes(1, 1), 130)


def test_token_vectors_refine_only_where_the_embedder_finds_sentences_as_well_as_bm25() -> None:
    assert refinement(notes(1.08, 1.1)) == 1.0
    assert refinement(notes(0.77, 1.1)) == 0.0
    assert 0 < refinement(notes(1.0, 1.1)) < 1
    assert refinement(notes(None, 1.1)) == trust(notes(None, 1.1))
    assert refinement(notes(1.08, 7.0)) == 0.0
    assert refinement({}) == 1.0
