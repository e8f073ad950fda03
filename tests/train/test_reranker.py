"""Training a reranker: tiny, but the whole way from judgments to a folder that reranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.evaluate.datasets import Dataset
from rag_app.index import LocalIndex
from rag_app.ingest import ingest
from rag_app.rerank import CrossEncoderReranker
from rag_app.retrieve import HybridRetriever
from rag_app.split import RecursiveSplitter
from rag_app.train import mine_groups, train_reranker
from rag_app.train.groups import held_out_ids
from rag_app.train.reranker import _Judged, _weigh, safest_weight
from rag_app.types import ConfigError

WORDS = ["pump", "valve", "filter", "lever", "motor", "hose", "tank", "gauge", "cable", "fuse"]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    corpus = {
        f"{w}-{n}": f"The {w} is {how} every year.\n" for w in WORDS for n, how in enumerate(["cleaned", "painted"])
    }
    queries = {w: f"who cleaned the {w}" for w in WORDS}
    return Dataset("small", corpus, queries, {w: {f"{w}-0": 1, f"{w}-1": 0} for w in WORDS})


@pytest.fixture(scope="module")
def retriever(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> HybridRetriever:
    index = LocalIndex.create(tmp_path_factory.mktemp("train") / "index", embedder=HashingEmbedder())
    ingest(index, dataset.documents(), RecursiveSplitter(chunk_size=200))
    return HybridRetriever(index=index)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path = tmp_path_factory.mktemp("base")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    vocabulary += ["the", "is", "every", "year", ".", "who", "cleaned", "painted"]
    (path / "vocab.txt").write_text("\n".join(vocabulary))
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(path)
    BertTokenizerFast(str(path / "vocab.txt")).save_pretrained(path)
    return str(path)


def test_a_group_has_the_relevant_passage_first_and_no_other_relevant_one(
    retriever: HybridRetriever, dataset: Dataset
) -> None:
    groups = mine_groups(retriever, dataset.queries, dataset.qrels, negatives=3)
    assert len(groups) == len(WORDS)
    for word, group in zip(WORDS, groups, strict=True):
        assert group.passages[0].strip() == dataset.corpus[f"{word}-0"].strip()
        assert len(group.passages) == 4
        assert group.passages[0] not in group.passages[1:]
    assert groups == mine_groups(retriever, dataset.queries, dataset.qrels, negatives=3)


def test_a_relevant_document_that_was_not_found_is_fetched(retriever: HybridRetriever, dataset: Dataset) -> None:
    groups = mine_groups(retriever, {"q": "painted fuse"}, {"q": {"pump-0": 1}}, negatives=1, depth=1)
    assert groups[0].passages[0].strip() == dataset.corpus["pump-0"].strip()


def test_the_part_held_out_is_the_same_every_time_and_never_everything() -> None:
    ids = [str(i) for i in range(50)]
    assert held_out_ids(ids, 0.2) == held_out_ids(ids[::-1], 0.2)
    assert len(held_out_ids(ids, 0.2)) == 10
    assert len(held_out_ids(["a", "b"], 0.9)) == 1


def test_training_gives_a_report_and_a_folder_that_reranks(
    retriever: HybridRetriever, dataset: Dataset, base: str, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    report = train_reranker(
        retriever, dataset, folder, base=base, max_tokens=32, candidates=5, held_out=0.4, learning_rate=1e-3
    )
    assert (report.trained_on, report.held_out, report.groups) == (6, 4, 6)
    assert set(report.rankings) == {"fused", "alone", "blended"}
    low, high = report.intervals["blended"]
    assert low <= report.rankings["blended"] <= high
    json.dumps(report.to_dict())
    reranker = CrossEncoderReranker(model=str(folder))
    assert (reranker.blend, reranker.threshold, reranker.max_candidates) == (report.blend, None, 5)
    found = reranker.compress_documents(retriever.invoke("who cleaned the pump", k=5), "who cleaned the pump")
    assert len(found) == 5
    assert CrossEncoderReranker(model=str(folder), blend=None).blend is None


def test_training_that_does_not_help_is_said_to_do_harm_or_not_to_be_shown(
    retriever: HybridRetriever, dataset: Dataset, base: str, tmp_path: Path
) -> None:
    report = train_reranker(
        retriever, dataset, tmp_path / "model", base=base, max_tokens=32, candidates=5, learning_rate=0.0
    )
    assert not report.helped
    assert "training is not shown to help" in report.finding or "does harm" in report.finding


def test_the_weight_is_the_one_that_suits_the_held_out_queries() -> None:
    def judged(raw: list[float]) -> Any:
        documents = [Document(id=i, page_content=i, metadata={"source": i}) for i in "abc"]
        return _Judged(documents, [3.0, 2.0, 1.0], raw)

    good = {str(i): judged([0.0, 0.0, 9.0]) for i in range(4)}
    blend, values = _weigh(good, {i: {"c": 1} for i in good})
    assert blend > 1
    assert values["blended"] == dict.fromkeys(good, 1.0)
    bad, _ = _weigh(good, {i: {"a": 1} for i in good})
    assert bad == 0.1


def test_of_weights_that_few_queries_cannot_tell_apart_the_lowest_is_taken() -> None:
    # Paired losses to the best (weight 2), mean and standard error: .1 .3 and 0; .5 .025 and .063; 1 .1 and 0.
    by_weight = {
        0.1: {"a": 0.6, "b": 0.5, "c": 0.4, "d": 0.5},
        0.5: {"a": 1.0, "b": 0.8, "c": 0.5, "d": 0.8},
        1.0: {"a": 0.8, "b": 0.7, "c": 0.6, "d": 0.7},
        2.0: {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.8},
    }
    assert safest_weight(by_weight, list("abcd")) == 0.5
    assert safest_weight(by_weight, ["c"]) == 2.0  # one query has no standard error: the best
    assert safest_weight({0.5: {"a": 1.0}, 1.0: {"a": 1.0}}, ["a"]) == 0.5


def test_nothing_to_learn_from_is_an_error(retriever: HybridRetriever, dataset: Dataset, base: str) -> None:
    from rag_app.train.cross_encoder import fit_cross_encoder

    with pytest.raises(ConfigError, match="nothing to learn from"):
        fit_cross_encoder([], base=base)
