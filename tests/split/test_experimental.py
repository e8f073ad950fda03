"""The frozen experimental package works with our parts: its semantic chunker cuts by our embeddings."""

from __future__ import annotations

import warnings

import pytest

from rag_app.embed import HashingEmbedder

TEXT = "Cats purr. Cats sleep. Cats eat fish. Pumps move water. Pumps need filters. Filters clog."


@pytest.mark.community
def test_langchains_semantic_chunker_takes_our_embeddings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package says on import that it is frozen
        from langchain_experimental.text_splitter import SemanticChunker

    pieces = SemanticChunker(HashingEmbedder(), breakpoint_threshold_amount=60).split_text(TEXT)
    assert len(pieces) > 1
    assert " ".join(pieces) == TEXT
