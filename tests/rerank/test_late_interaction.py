"""Late interaction: MaxSim by hand, and an embedder that cannot do it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder, PackagedEmbedder
from rag_app.rerank import LateInteractionReranker, max_sim
from rag_app.types import ConfigError


def test_max_sim_is_the_mean_of_the_best_cosines() -> None:
    query = np.array([[1.0, 0.0], [0.0, 1.0]])
    passage = np.array([[0.6, 0.8], [1.0, 0.0]])
    assert max_sim(query, passage) == pytest.approx((1.0 + 0.8) / 2)


def test_no_tokens_give_0() -> None:
    assert max_sim(np.empty((0, 2)), np.ones((1, 2))) == 0.0
    assert max_sim(np.ones((1, 2)), np.empty((0, 2))) == 0.0


def test_an_embedder_is_needed(candidates: Any) -> None:
    with pytest.raises(ConfigError, match="token vectors"):
        LateInteractionReranker().compress_documents(candidates, "pump")


def test_an_embedder_with_token_vectors_reranks(candidates: Any) -> None:
    class Letters(HashingEmbedder):
        def token_vectors(self, texts: Any, *, query: bool = False) -> list[Any]:
            return [self.encode([word.strip(".,").casefold() for word in text.split()]) for text in texts]

    reranker = LateInteractionReranker(embeddings=Letters(), blend=None)
    found = reranker.compress_documents(candidates, "holiday list")
    assert found[0].id == "c2"
    assert found[0].metadata["relevance_score"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.model
def test_the_packaged_model_puts_the_answering_sentence_first() -> None:
    texts = ["The mill closed in 1950.", "The bridge was built by Roman soldiers.", "Bread is baked at night."]
    documents = [Document(id=f"c{i}", page_content=text) for i, text in enumerate(texts)]
    reranker = LateInteractionReranker(embeddings=PackagedEmbedder(), blend=None)
    assert reranker.compress_documents(documents, "Who built the bridge?")[0].id == "c1"


def test_an_embedder_that_does_not_know_the_language_has_no_say(candidates: Any) -> None:
    class Backwards(HashingEmbedder):
        def token_vectors(self, texts: Any, *, query: bool = False) -> list[Any]:
            return [self.encode([word.strip(".,").casefold() for word in text.split()]) for text in texts]

    reranker = LateInteractionReranker(embeddings=Backwards(), blend=9)
    trusted = reranker.compress_documents(candidates, "holiday list")
    assert trusted[0].id == "c2"
    candidates.trace = candidates.trace.add("rrf", None, parameters={"trust": 0.0})
    doubted = reranker.compress_documents(candidates, "holiday list")
    assert [document.id for document in doubted] == ["c1", "c2", "c3", "c4", "c5"]


def test_the_index_s_word_on_refinement_scales_the_blend(candidates: Any) -> None:
    reranker = LateInteractionReranker(blend=0.5)
    noted = candidates.trace.add("rrf", None, parameters={"trust": 1.0, "refinement": 0.4})
    assert reranker.weight(noted) == pytest.approx(0.2)
    assert reranker.weight(candidates.trace) == 0.5


@pytest.mark.parametrize("noted", [{"trust": 0.0}, {"trust": 1.0, "refinement": 0.0}])
def test_a_model_without_a_say_is_not_asked_and_the_order_of_the_fusion_stands(candidates: Any, noted: Any) -> None:
    class Unasked(HashingEmbedder):
        def token_vectors(self, texts: Any, *, query: bool = False) -> list[Any]:
            raise AssertionError("nothing is to be encoded")

    candidates.trace = candidates.trace.add("rrf", None, parameters=noted)
    found = LateInteractionReranker(embeddings=Unasked()).compress_documents(candidates, "holiday list")
    assert [document.id for document in found] == [document.id for document in candidates]
    relevance = [document.metadata["relevance_score"] for document in found]
    assert relevance == sorted(relevance, reverse=True)
    assert relevance[0] == 1.0
    assert relevance[-1] > 0
    assert list(found.trace.rankings) == ["rrf", "rerank"]


def test_a_threshold_is_about_the_models_judgment_and_asks_it_all_the_same(candidates: Any) -> None:
    candidates.trace = candidates.trace.add("rrf", None, parameters={"trust": 0.0})
    with pytest.raises(ConfigError, match="token vectors"):
        LateInteractionReranker(threshold=0.5).compress_documents(candidates, "pump")
