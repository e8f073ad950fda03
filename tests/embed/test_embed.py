"""Unit rows whatever the model; checks, cache, retries, and the packaged MiniLM against its reference."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from pydantic import Field, TypeAdapter

from rag_app.embed import (
    Embedder,
    Embedding,
    HashingEmbedder,
    OpenAIEmbedder,
    PackagedEmbedder,
    SentenceTransformerEmbedder,
    as_embedder,
    check_vectors,
    default_embedding,
    overlong,
    packaged,
)
from rag_app.embed.batches import embed_texts
from rag_app.embed.cache import EmbeddingCache
from rag_app.embed.checks import vector_faults
from rag_app.embed.sentence_transformer import declared_prefixes, family_prefixes
from rag_app.types import ConfigError, EmbeddingError


@given(st.lists(st.text(min_size=1, max_size=30), max_size=8))
def test_rows_are_of_unit_length_in_the_order_of_the_texts(texts: list[str]) -> None:
    embedder = HashingEmbedder(dimensions=16, batch_size=3)
    rows = embedder.encode(texts)
    assert rows.shape == (len(texts), 16)
    assert rows.dtype == np.float32
    for text, row in zip(texts, rows, strict=True):
        assert float(np.linalg.norm(row)) == pytest.approx(1.0, abs=1e-5)
        assert (embedder.encode([text])[0] == row).all()


def test_langchains_names_give_the_same_numbers() -> None:
    embedder = HashingEmbedder(dimensions=16)
    assert embedder.embed_documents(["a pump"]) == [embedder.embed_query("a pump")]
    assert embedder.embed_query("a pump") == [float(x) for x in embedder.encode(["a pump"])[0]]


def test_any_embeddings_can_be_wrapped() -> None:
    wrapped = as_embedder(DeterministicFakeEmbedding(size=12))
    assert wrapped.dimension == 12
    assert wrapped.name == "DeterministicFakeEmbedding"
    assert np.linalg.norm(wrapped.encode(["a", "b"]), axis=1) == pytest.approx([1, 1])
    assert as_embedder(wrapped) is wrapped
    with pytest.raises(ConfigError, match="token vectors"):
        wrapped.token_vectors(["a"])


def test_vectors_of_unequal_dimension_in_one_batch_are_refused() -> None:
    class Uneven(Embeddings):
        def embed_query(self, text: str) -> list[float]:
            return [1.0]

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[1.0] * (i + 1) for i, _ in enumerate(texts)]

    with pytest.raises(EmbeddingError, match=r"different dimensions.*\[1, 2\]"):
        as_embedder(Uneven()).encode(["a", "b"])


@pytest.mark.parametrize(
    ("vector", "fault"),
    [
        (None, "no vector"),
        ([0.0, 0.0], "length 0.0000"),
        ([0.005, 0.0], "below 0.01"),
        ([float("nan"), 1.0], "NaN"),
        ([float("inf"), 1.0], "infinity"),
        ([1.0], "dimension 1, expected 2"),
        ([None, 1.0], "NaN"),
        (["x", 1.0], "no number"),
    ],
)
def test_a_vector_that_cannot_be_used_is_refused_by_chunk_id(vector: Any, fault: str) -> None:
    with pytest.raises(EmbeddingError, match="chunk-7: ") as caught:
        check_vectors([[1.0, 0.0], vector], ["chunk-1", "chunk-7"], dimension=2)
    assert fault in str(caught.value)
    assert "chunk-1:" not in str(caught.value)


def test_good_vectors_pass() -> None:
    assert check_vectors([[1.0, 0.0], [0.0, 0.01]], ["a", "b"], dimension=2).shape == (2, 2)
    assert vector_faults(np.eye(3, dtype=np.float32), dimension=3) == [None] * 3


def test_texts_beyond_the_window_are_named() -> None:
    class Short(HashingEmbedder):
        @property
        def max_tokens(self) -> int | None:
            return 4

    assert overlong(Short(), ["a b c d e", "a b"], ["long", "short"])[0].startswith("chunk long has 5 tokens")
    assert overlong(HashingEmbedder(), ["a " * 10_000], ["any"]) == []


def test_the_cache_gives_back_what_was_put_in_and_nothing_that_was_changed(tmp_path: Path) -> None:
    embedder = HashingEmbedder(dimensions=8)
    vectors = dict(zip("abc", embedder.encode(list("abc")), strict=True))
    EmbeddingCache(tmp_path, embedder).put(vectors)
    found = EmbeddingCache(tmp_path, embedder).get(["c", "a", "unknown"])
    assert {text: row.tolist() for text, row in found.items()} == {t: vectors[t].tolist() for t in ("c", "a")}
    (file,) = tmp_path.glob("*.vectors")
    raw = file.read_bytes()
    file.write_bytes(bytes([raw[0] ^ 1]) + raw[1:-3])  # the first changed, the last cut
    assert set(EmbeddingCache(tmp_path, embedder).get(list("abc"))) == {"b"}
    EmbeddingCache(tmp_path, embedder).put({"d": vectors["a"]})
    assert set(EmbeddingCache(tmp_path, embedder).get(list("abcd"))) == {"b", "d"}
    assert EmbeddingCache(tmp_path, HashingEmbedder(dimensions=9)).get(list("abc")) == {}


class Flaky(HashingEmbedder):
    """Fails as often as it is told."""

    failures: int = 0
    calls: list[int] = Field(default_factory=list)
    retry_waits: ClassVar[tuple[float, ...]] = (1.0, 2.0, 4.0)

    def _encode(self, texts: Sequence[str], *, query: bool) -> Any:
        self.calls.append(len(texts))
        if self.failures:
            self.failures -= 1
            raise ConnectionError("503")
        return super()._encode(texts, query=query)


def test_a_failed_batch_is_tried_again_after_1_2_and_4_seconds() -> None:
    waits: list[float] = []
    embedder = Flaky(failures=3)
    vectors, reasons = embed_texts(embedder, {"c1": "pump"}, sleep=waits.append)
    assert (list(vectors), reasons) == (["c1"], {})
    assert waits == [1.0, 2.0, 4.0]


def test_a_model_that_stays_away_is_given_up_with_the_reason_for_every_text() -> None:
    embedder = Flaky(failures=10_000, batch_size=1)
    texts = {f"c{i}": f"text {i}" for i in range(50)}
    vectors, reasons = embed_texts(embedder, texts, sleep=lambda _: None)
    assert vectors == {}
    assert set(reasons) == set(texts)
    assert all("503" in reason for reason in reasons.values())
    assert len(embedder.calls) < 20


def test_every_member_is_a_setting_and_comes_back_from_it() -> None:
    adapter: TypeAdapter[Embedder] = TypeAdapter(Embedding)
    for member in (HashingEmbedder(), PackagedEmbedder(), SentenceTransformerEmbedder(), OpenAIEmbedder()):
        assert adapter.validate_python(member.model_dump(mode="json")) == member


def test_prefixes_of_known_families_are_set_by_themselves() -> None:
    assert family_prefixes("intfloat/e5-base-v2") == ("query: ", "passage: ")
    assert family_prefixes("BAAI/bge-small-en-v1.5")[0].startswith("Represent this sentence")
    assert family_prefixes("sentence-transformers/all-MiniLM-L6-v2") == ("", "")
    assert SentenceTransformerEmbedder(model="e5-x", query_prefix="q: ").prefixes == ("q: ", "passage: ")
    assert family_prefixes("BAAI/bge-large-zh-v1.5")[0].startswith("为这个句子")
    assert family_prefixes("Snowflake/snowflake-arctic-embed-l-v2.0") == ("query: ", "")
    assert family_prefixes("Snowflake/snowflake-arctic-embed-m")[0].startswith("Represent this sentence")
    assert family_prefixes("intfloat/e5-mistral-7b-instruct")[0].startswith("Instruct: ")


def test_a_family_not_known_here_has_the_prompts_that_its_files_declare() -> None:
    assert declared_prefixes({"query": "ask: ", "document": "text: "}) == ("ask: ", "text: ")
    assert declared_prefixes({"query": "", "passage": "p: ", "corpus": "c: "}) == ("", "p: ")
    assert declared_prefixes({}) == declared_prefixes(None) == ("", "")


@pytest.mark.model
def test_declared_prompts_are_put_before_the_text_once(tmp_path: Path) -> None:
    import json
    import shutil

    from rag_app.embed.packaged import packaged_folder

    place = tmp_path / "model"
    shutil.copytree(packaged_folder(), place)
    declared = {"prompts": {"query": "ask: ", "document": "text: "}, "default_prompt_name": "document"}
    (place / "config_sentence_transformers.json").write_text(json.dumps(declared))
    embedder, plain = SentenceTransformerEmbedder(model=str(place)), PackagedEmbedder(backend="torch", precision="fp32")
    assert embedder.prefixes == ("ask: ", "text: ")
    found = np.concatenate([embedder.encode(["the pump"], query=True), embedder.encode(["the pump"])])
    assert found == pytest.approx(plain.encode(["ask: the pump", "text: the pump"]), abs=1e-4)


TEXTS = ["The pump stops when the filter is clogged.", "cats", "A much longer text about valves. " * 40, "x" * 3000]


@pytest.mark.model
def test_the_packaged_model_equals_sentence_transformers_and_bf16_stays_near() -> None:
    from rag_app.embed.packaged import packaged_folder

    reference = SentenceTransformerEmbedder(model=str(packaged_folder())).encode(TEXTS).astype(np.float64)
    exact = PackagedEmbedder(precision="fp32").encode(TEXTS)
    fast = PackagedEmbedder(precision="bf16").encode(TEXTS)
    assert (reference * exact).sum(axis=1).min() >= 0.99999
    assert (reference * fast).sum(axis=1).min() >= 0.999


def test_many_first_callers_load_the_packaged_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []

    @functools.lru_cache
    def load(*_: Any) -> str:
        loads.append(1)
        time.sleep(0.05)
        return "an encoder"

    monkeypatch.setattr(packaged, "_load", load)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: PackagedEmbedder(backend="torch")._encoder(), range(4))) == {"an encoder"}
    assert len(loads) == 1


@pytest.mark.model
def test_the_packaged_model_counts_its_tokens_and_has_a_vector_for_each() -> None:
    embedder = default_embedding()
    assert isinstance(embedder, PackagedEmbedder)
    assert embedder.max_tokens == 256
    assert embedder.count_tokens("the pump") == 4
    assert embedder.count_tokens(TEXTS[2]) > 256
    rows = embedder.token_vectors(["the pump", TEXTS[2], ""])
    assert [len(row) for row in rows] == [2, 254, 0]
    assert np.linalg.norm(rows[0], axis=1) == pytest.approx([1, 1], abs=1e-3)
