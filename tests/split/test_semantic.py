"""The semantic splitter: cuts where the subject changes, with bounds, and every sentence in a chunk."""

from __future__ import annotations

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from rag_app.split import SemanticSplitter
from rag_app.split.semantic import cut_places, neighbor_distances
from rag_app.types import ConfigError


class Subjects(Embeddings):
    """One axis for each subject word; counts the batches it was asked for."""

    def __init__(self) -> None:
        self.batches = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.batches += 1
        return [[float(text.lower().count(word)) for word in ("cat", "dog", "pump")] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


CATS = "Cats purr. A cat sleeps. The cat eats."
DOGS = "Dogs bark. A dog runs. The dog digs."
PUMPS = "Pumps hum. A pump leaks. The pump stops."


def test_it_cuts_where_the_subject_changes() -> None:
    splitter = SemanticSplitter(amount=10, min_size=0, embeddings=Subjects())
    text = f"{CATS} {CATS} {DOGS} {DOGS}\n\n{PUMPS}"
    assert splitter.split_text(text) == [f"{CATS} {CATS}", f"{DOGS} {DOGS}", PUMPS]


def test_groups_are_embedded_in_batches() -> None:
    embeddings = Subjects()
    SemanticSplitter(embeddings=embeddings).split_text(" ".join([CATS, DOGS] * 40))
    assert embeddings.batches == 1


def test_no_chunk_is_above_the_most() -> None:
    """BUGS.md row 5: langchain-ai/langchain#28250."""
    splitter = SemanticSplitter(max_size=400, embeddings=Subjects())
    for text in ("Alpha beta gamma delta. " * 3000, "\n".join(f"row {i} cat dog pump" for i in range(500))):
        chunks = splitter.split_text(text)
        assert max(map(len, chunks)) <= 400
        assert min(map(len, chunks)) > 100
        assert "".join("".join(chunks).split()) == "".join(text.split())


def test_a_chunk_is_its_slice_white_space_included() -> None:
    """BUGS.md row 24: langchain-ai/langchain PR#24761."""
    text = "Cats purr.  They sleep.\n\nDogs bark! Loudly.\n"
    splitter = SemanticSplitter(group_size=1, amount=0, min_size=0, embeddings=DeterministicFakeEmbedding(size=4))
    chunks = splitter.create_documents([text])
    assert len(chunks) == 3
    for chunk in chunks:
        assert chunk.metadata["start_index"] in (0, 12, 25, 36)
        assert chunk.page_content == text[chunk.metadata["start_index"] : chunk.metadata["end_index"]].strip()
    assert "".join("".join(c.page_content.split()) for c in chunks) == "".join(text.split())


@pytest.mark.parametrize("text", ["", "  \n", "One cat.", "One cat. Two dogs."])
def test_short_texts_are_at_most_one_chunk(text: str) -> None:
    assert SemanticSplitter(embeddings=Subjects()).split_text(text) == ([text] if text.strip() else [])


def test_a_small_chunk_joins_the_neighbor_it_is_more_like() -> None:
    mixed = "A dog digs. Some dog, some pump. A dog barks."
    text = f"{CATS} {CATS} {CATS} {mixed} {PUMPS} {PUMPS}"
    splitter = SemanticSplitter(amount=10, max_size=300, embeddings=Subjects())
    assert splitter.bind(min_size=0).split_text(text)[1] == mixed
    assert splitter.bind(min_size=50).split_text(text) == [f"{CATS} {CATS} {CATS}", f"{mixed} {PUMPS} {PUMPS}"]


def test_an_overlap_is_whole_sentences() -> None:
    text = f"{CATS} {CATS} {DOGS} {DOGS}"
    first, second = SemanticSplitter(amount=10, min_size=0, overlap=0.3, embeddings=Subjects()).split_text(text)
    assert first == f"{CATS} {CATS}"
    assert second == f"A cat sleeps. The cat eats. {DOGS} {DOGS}"


@pytest.mark.parametrize("threshold", ["percentile", "standard_deviation", "interquartile", "gradient"])
def test_every_threshold_finds_a_lone_peak(threshold: str) -> None:
    distances = np.array([0.1] * 10 + [0.9] + [0.1] * 10)
    assert set(cut_places(distances, threshold)) & {9, 10}


def test_uniform_distances_have_no_cut() -> None:
    assert cut_places(np.full(9, 0.3), "percentile") == []
    assert cut_places(np.zeros(0), "percentile") == []


def test_distances_are_one_minus_the_cosine_and_a_zero_row_is_at_one() -> None:
    vectors = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert neighbor_distances(vectors).tolist() == [0.0, 1.0, 1.0]


def test_without_an_embedder_it_says_so() -> None:
    with pytest.raises(ConfigError, match="bind"):
        SemanticSplitter().transform_documents([Document(page_content=f"{CATS} {DOGS}")])
