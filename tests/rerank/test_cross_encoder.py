"""Cross-encoders: one scale whatever the model's own, windows for long passages, labels that must be named."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document

from rag_app.rerank import CrossEncoderReranker
from rag_app.rerank.base import sigmoid
from rag_app.types import ConfigError, ModelError

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "pump",
    "cats",
    "sleep",
    "reset",
    "the",
    "valve",
    "a",
    ".",
    "?",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A real, tiny cross-encoder with random weights, saved as sentence-transformers saves one."""
    pytest.importorskip("sentence_transformers")
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    def make(labels: int) -> str:
        path = tmp_path_factory.mktemp("encoder")
        (path / "vocab.txt").write_text("\n".join(VOCABULARY))
        torch.manual_seed(7)
        config = BertConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=64,
            num_labels=labels,
            initializer_range=0.8,
        )
        BertForSequenceClassification(config).save_pretrained(path)
        BertTokenizerFast(str(path / "vocab.txt"), model_max_length=64).save_pretrained(path)
        return str(path)

    return make


PASSAGES = [
    Document(id=f"c{i}", page_content=text) for i, text in enumerate(["reset the pump", "cats sleep", "a valve"])
]


@pytest.mark.parametrize("scores", [[8.0, -8.0, 1.0, -1.0, 3.0], [0.99, 0.01, 0.7, 0.2, 0.9]])
def test_a_threshold_means_the_same_for_logits_and_probabilities(
    table: Any, candidates: Any, scores: list[float]
) -> None:
    found = CrossEncoderReranker(encoder=table(scores), threshold=0.5).compress_documents(candidates, "pump")
    assert [document.id for document in found] == ["c1", "c5", "c3"]
    assert all(0 <= document.metadata["relevance_score"] <= 1 for document in found)
    assert "were taken as" in found.trace.warnings[0]


def test_a_declared_scale_is_taken_at_its_word(table: Any, candidates: Any) -> None:
    inside = [0.9, 0.1, 0.2, 0.3, 0.4]
    found = CrossEncoderReranker(encoder=table(inside), scale="logit", threshold=0.5).compress_documents(
        candidates, "q"
    )
    assert len(found) == 5  # the logistic function of each is above .5
    with pytest.raises(ModelError, match="no probabilities"):
        CrossEncoderReranker(encoder=table([8.0] * 5), scale="probability").compress_documents(candidates, "q")


def test_the_order_of_great_logits_survives_the_scale(table: Any, candidates: Any) -> None:
    reranker = CrossEncoderReranker(encoder=table([800.0, 801.0, 802.0, 803.0, 804.0]))
    assert [d.id for d in reranker.compress_documents(candidates, "q")] == ["c5", "c4", "c3", "c2", "c1"]


def test_a_real_model_gives_relevance_in_0_to_1_whatever_its_own_activation(folder: Any) -> None:
    from sentence_transformers import CrossEncoder

    path = folder(1)
    exact = CrossEncoderReranker(model=path, threshold=None, dtype="float32")
    found = exact.compress_documents(PASSAGES, "the pump ?")
    plain = CrossEncoder(path, device="cpu")
    expected = plain.predict([("the pump ?", d.page_content) for d in PASSAGES], show_progress_bar=False)
    by_id = {str(d.id): d.metadata["relevance_score"] for d in found}
    assert [by_id[str(d.id)] for d in PASSAGES] == pytest.approx([float(x) for x in expected], abs=1e-4)


def test_the_best_window_of_a_long_passage_wins(folder: Any) -> None:
    path = folder(1)
    reranker = CrossEncoderReranker(model=path, threshold=None)
    good = max(PASSAGES, key=lambda d: reranker.score("the pump ?", [d]).raw[0])
    filler = "the cats . " * 30
    long = Document(id="long", page_content=f"{filler} {good.page_content}")
    cut = Document(id="cut", page_content=filler)
    with_tail, without = reranker.score("the pump ?", [long, cut]).raw
    assert with_tail >= without


def test_a_model_with_several_labels_is_refused_unless_one_is_named(folder: Any) -> None:
    path = folder(3)
    with pytest.raises(ConfigError, match=r"rerank\.relevance_label"):
        CrossEncoderReranker(model=path).compress_documents(PASSAGES, "pump")
    with pytest.raises(ConfigError, match="none of"):
        CrossEncoderReranker(model=path, relevance_label="no such").compress_documents(PASSAGES, "pump")
    total = [0.0] * len(PASSAGES)
    for label in ("LABEL_0", "LABEL_1", 2):
        scored = CrossEncoderReranker(model=path, relevance_label=label).score("pump", PASSAGES)
        total = [a + b for a, b in zip(total, scored.relevance, strict=True)]
    assert total == pytest.approx([1.0] * len(PASSAGES), abs=1e-5)


def test_a_model_that_cannot_be_had_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(ModelError, match=r"no/such-model.*late-interaction"):
        CrossEncoderReranker(model="no/such-model").compress_documents(PASSAGES, "pump")


@pytest.mark.community
@pytest.mark.filterwarnings("ignore:.langchain-community. is being sunset:DeprecationWarning")
def test_langchains_own_cross_encoder_is_accepted_and_its_scale_known(folder: Any) -> None:
    from langchain_community.cross_encoders import HuggingFaceCrossEncoder

    path = folder(1)
    theirs = CrossEncoderReranker(encoder=HuggingFaceCrossEncoder(model_name=path), threshold=None)
    ours = CrossEncoderReranker(model=path, threshold=None, dtype="float32")
    assert theirs.score("pump", PASSAGES).raw == pytest.approx(ours.score("pump", PASSAGES).raw, abs=1e-3)


def test_scores_of_one_question_are_on_one_scale_also_when_asked_in_two_calls() -> None:
    replies = iter([[0.1, 0.2, 0.3, 0.4], [5.0, -3.0]])

    class TwoCalls(BaseCrossEncoder):
        def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
            return next(replies)

    documents = [Document(id=f"c{i}", page_content=f"text {i}") for i in range(6)]
    reranker = CrossEncoderReranker(encoder=TwoCalls(), max_latency_ms=1e6, threshold=None)
    found = reranker.compress_documents(documents, "q")
    relevance = {document.id: document.metadata["relevance_score"] for document in found}
    assert relevance["c0"] == pytest.approx(sigmoid(0.1))
    assert relevance["c5"] == pytest.approx(sigmoid(-3.0))
    assert list(relevance.values()) == sorted(relevance.values(), reverse=True)


def test_a_candidate_that_comes_again_has_one_vote_and_two_texts_under_one_id_stay_two() -> None:
    class Lengths(BaseCrossEncoder):
        def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
            return [len(text) / 10 for _, text in text_pairs]

    texts = ["aa", "aa", "bbbb"]
    documents = [Document(id="x", page_content=text) for text in texts]
    found = CrossEncoderReranker(encoder=Lengths(), threshold=None).compress_documents(documents, "q")
    assert [(d.page_content, d.metadata["relevance_score"]) for d in found] == [("bbbb", 0.4), ("aa", 0.2)]
    assert len({d.id for d in found}) == 2
