"""Rankings: by hand, against other implementations, and against brute force over random histories."""

from __future__ import annotations

import math
import random
import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.filters import parse_filter
from rag_app.index import BM25Settings, IndexSettings, LocalIndex
from rag_app.text import Analyzer
from rag_app.types import ConfigError, EmbeddingError, Hit, LoadedDocument

PLAIN = Analyzer(language="none", stop_words=False)
WORDS = ["pump", "filter", "cat", "sleep", "reset", "valve", "steel", "water"]


def single(index: LocalIndex, chunk_id: str, text: str, **metadata: Any) -> None:
    document = LoadedDocument(id=chunk_id, page_content=text, metadata=metadata)
    index.upsert(document, [Document(id=chunk_id, page_content=text, metadata=metadata)], replace="id")


def built(path: Path, texts: list[str], **options: Any) -> LocalIndex:
    index = LocalIndex.create(path, embedder=HashingEmbedder(dimensions=32), settings=IndexSettings(**options))
    with index:
        for i, text in enumerate(texts):
            single(index, f"{i:04d}", text)
    return index


def test_bm25_is_the_formula_of_the_paper_with_lucenes_idf(tmp_path: Path) -> None:
    index = built(tmp_path / "i", ["pump pump filter", "filter", "cat sleep reset"], analyzer=PLAIN)
    n, df, tf, k1, b, length, average = 3, 1, 2, 1.2, 0.75, 3, 7 / 3
    expected = math.log(1 + (n - df + 0.5) / (df + 0.5)) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))
    (hit,) = index.bm25("pump", k=5)
    assert hit == Hit("0000", pytest.approx(expected), 1)


def test_the_contributions_of_the_terms_are_the_score(tmp_path: Path) -> None:
    index = built(tmp_path / "i", ["pump pump filter", "filter cat", "cat sleep reset"], analyzer=PLAIN)
    for hit in index.bm25("filter cat pump pump", k=3):
        terms = index.bm25_terms("filter cat pump pump", hit.chunk_id)
        assert sum(terms.values()) == pytest.approx(hit.score, abs=1e-12)
        assert index.bm25_score("filter cat pump pump", [hit.chunk_id]) == {hit.chunk_id: hit.score}
    assert index.bm25_terms("filter", "0002") == {}
    assert index.bm25_score("filter", ["0002", "unknown"]) == {"0002": 0.0}


def test_chunks_that_share_no_term_with_the_query_are_never_returned(tmp_path: Path) -> None:
    index = built(tmp_path / "i", ["the pump", "a filter", "cats sleep", "water", "steel", "valves", "reset"])
    assert index.bm25("zzz qqq", k=4) == ()
    assert len(index.bm25("pump", k=4)) == 1


def test_a_word_in_half_of_the_chunks_still_counts(tmp_path: Path) -> None:
    index = built(tmp_path / "i", ["reset the pump", "cats sleep a lot"])
    assert [hit.chunk_id for hit in index.bm25("pump", k=1)] == ["0000"]
    assert index.bm25("pump", k=1)[0].score > 0


@pytest.mark.parametrize("texts", [[], [""], ["", "  "], ["pump"]])
def test_an_empty_index_blank_chunks_one_chunk_and_k_beyond_all_are_fine(texts: list[str], tmp_path: Path) -> None:
    index = built(tmp_path / "i", texts)
    expected = 1 if texts == ["pump"] else 0
    assert len(index.bm25("pump", k=100)) == len(index.dense("pump", k=100)) == expected
    assert index.bm25("", k=3) == index.dense("", k=3) == index.bm25("pump", k=0) == ()


def test_words_are_found_whatever_their_case_and_script(tmp_path: Path) -> None:
    texts = ["水泵过滤器堵塞", "猫在睡觉", "Replace the filter.", "die Straße nach Köln", "see AB-123 in goals.md"]
    index = built(tmp_path / "i", texts)
    for query, place in [
        ("过滤器", 0),
        ("猫", 1),
        ("Filter?", 2),
        ("STRASSE", 3),
        ("ab-123", 4),
        ("123", 4),
        ("goals", 4),
    ]:
        assert [hit.chunk_id for hit in index.bm25(query, k=9)] == [f"{place:04d}"], query


def test_stems_meet_within_each_language_of_a_mixed_index(tmp_path: Path) -> None:
    texts = ["the pumps are running in the hall", "die Verträge wurden von der Firma unterschrieben"]
    index = built(tmp_path / "i", texts)
    assert [hit.chunk_id for hit in index.bm25("pump runs", k=2)] == ["0000"]
    assert [hit.chunk_id for hit in index.bm25("Vertrag", k=2)] == ["0001"]


def random_texts(n: int, seed: int) -> list[str]:
    words, chance = random.Random(0), random.Random(seed)
    vocabulary = ["".join(words.choices(string.ascii_lowercase, k=4)) for _ in range(120)]
    weights = [1 / (i + 1) for i in range(len(vocabulary))]
    return [" ".join(chance.choices(vocabulary, weights, k=chance.randint(3, 40))) for _ in range(n)]


def test_okapi_equals_rank_bm25(tmp_path: Path) -> None:
    from rank_bm25 import BM25Okapi

    texts = random_texts(200, 1)
    index = built(tmp_path / "i", texts, analyzer=PLAIN, bm25=BM25Settings(variant="okapi", k1=1.5))
    oracle = BM25Okapi([text.split() for text in texts])
    for query in random_texts(20, 2):
        expected = oracle.get_scores(query.split())
        scores = index.bm25_score(query, index.chunk_ids())
        assert np.allclose([scores[f"{i:04d}"] for i in range(200)], expected, atol=1e-9)
        best = index.bm25(query, k=10)
        assert np.allclose([hit.score for hit in best], np.sort(expected)[::-1][:10], atol=1e-9)


def test_l_equals_rank_bm25_less_its_slip_and_plus_adds_its_delta_to_matches_only(tmp_path: Path) -> None:
    from rank_bm25 import BM25L

    texts = random_texts(100, 3)
    index = built(tmp_path / "l", texts, analyzer=PLAIN, bm25=BM25Settings(variant="l", k1=1.5))
    oracle = BM25L([text.split() for text in texts])
    for word in set(" ".join(random_texts(5, 4)).split()):
        scores, expected = index.bm25_score(word, index.chunk_ids()), oracle.get_scores([word])
        for i, text in enumerate(texts):
            # rank-bm25 multiplies by the term's frequency once more than the paper, which does so nowhere.
            times = text.split().count(word)
            assert scores[f"{i:04d}"] * times == pytest.approx(expected[i] if times else 0.0)
    plus = built(tmp_path / "p", ["pump", "pump cat", "cat"], analyzer=PLAIN, bm25=BM25Settings(variant="plus"))
    assert {hit.chunk_id for hit in plus.bm25("pump", k=3)} == {"0000", "0001"}


def test_lucene_equals_bm25s(tmp_path: Path) -> None:
    import bm25s

    texts = random_texts(300, 5)
    index = built(tmp_path / "i", texts, analyzer=PLAIN, bm25=BM25Settings(k1=1.5))
    oracle = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    oracle.index([text.split() for text in texts], show_progress=False)
    for query in random_texts(20, 6):
        # bm25s leaves the constant factor k1 + 1 out, and counts a repeated word once for each time.
        expected = oracle.get_scores(query.split()) * 2.5
        scores = index.bm25_score(query, index.chunk_ids())
        assert np.allclose([scores[f"{i:04d}"] for i in range(300)], expected, rtol=1e-4, atol=1e-5)


def test_dense_equals_numpy_for_one_query_and_for_many(tmp_path: Path) -> None:
    texts = random_texts(300, 7)
    index = built(tmp_path / "i", texts)
    queries = index.embedder.encode(random_texts(20, 8))
    matrix = index.vectors(index.chunk_ids()).astype(np.float64)
    together = index.dense_by_vectors(queries, k=10)
    for query, hits in zip(queries, together, strict=True):
        products = matrix @ query.astype(np.float64)
        order = sorted(range(300), key=lambda i: (-round(float(products[i]), 12), i))[:10]
        assert [hit.chunk_id for hit in hits] == [f"{i:04d}" for i in order]
        assert index.dense_by_vectors([query], k=10)[0] == hits


def test_query_vectors_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    index = built(tmp_path / "i", ["pump", "cat"])
    with pytest.raises(EmbeddingError, match="dimension 32"):
        index.dense_by_vectors(np.ones((1, 7)), k=1)
    with pytest.raises(EmbeddingError, match="NaN"):
        index.dense_by_vectors(np.full((1, 32), np.nan), k=1)
    with pytest.raises(ConfigError, match="1 filters for 2 queries"):
        index.dense_by_vectors(np.ones((2, 32)), k=1, filters=[None])
    assert index.dense_by_vectors(np.zeros((1, 32)), k=1) == [()]
    assert index.dense_by_vectors(np.empty((0, 32)), k=1) == []
    for filters in ([], [{}] * 3, ({"a": 1},)):
        with pytest.raises(ConfigError, match=f"{len(filters)} filters for 2 queries"):
            index.dense_by_vectors(np.ones((2, 32)), k=1, filters=filters)
    with pytest.raises(ConfigError, match="filter: expected an object"):
        index.dense("pump", k=1, filter=[{}])  # type: ignore[arg-type]
    bare = LocalIndex.create(tmp_path / "bare", embedder=None)
    with pytest.raises(EmbeddingError, match="the index has no vectors"):
        bare.dense_by_vectors(np.ones((1, 32)), k=1)


@pytest.mark.parametrize("size", [1e-300, 1e-40, 1.0, 1e38, 1e300])
def test_the_length_of_a_query_vector_is_no_matter(size: float, tmp_path: Path) -> None:
    index = built(tmp_path / "i", ["pump", "cat", "red cat"])
    vector = index.embed_query("cat").astype(np.float64)
    found = index.dense_by_vectors([size * vector], k=3)[0]
    assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in index.dense("cat", k=3)]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in index.dense("cat", k=3)])


def test_a_query_or_a_number_of_another_kind_is_named(tmp_path: Path) -> None:
    index = built(tmp_path / "i", ["pump", "cat"])
    for search in (index.bm25, index.dense):
        with pytest.raises(ConfigError, match="query: expected text, found None"):
            search(None, k=1)  # type: ignore[arg-type]
        for k in (None, 1.5, "2"):
            with pytest.raises(ConfigError, match="k: expected a whole number"):
                search("pump", k=k)  # type: ignore[arg-type]
        assert len(search("pump", k=np.int64(1))) == 1
        assert search("pump", k=0) == ()


values = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, 2.5, -1e300]),
    st.sampled_from(["a", "b", "2024-01-01", "2024-01-01T10:00:00"]),
    st.booleans(),
    st.none(),
    st.lists(st.sampled_from(["a", "b", 1]), max_size=2),
)
metadatas = st.dictionaries(st.sampled_from(["x", "y", "z"]), values, max_size=3)
conditions = st.recursive(
    st.builds(
        lambda field, test: {field: test},
        st.sampled_from(["x", "y", "z", "unknown"]),
        st.one_of(
            values,
            st.builds(lambda v: {"$ne": v}, values),
            st.builds(lambda v: {"$in": v}, st.lists(values, max_size=3)),
            st.builds(lambda v: {"$nin": v}, st.lists(values, max_size=3)),
            st.builds(
                lambda op, v: {op: v},
                st.sampled_from(["$gt", "$gte", "$lt", "$lte"]),
                st.one_of(st.integers(-3, 3), st.just(0.75), st.sampled_from(["a", "2024-01-01"])),
            ),
            st.builds(lambda v: {"$contains": v}, values),
            st.builds(lambda v: {"$exists": v}, st.booleans()),
        ),
    ),
    lambda inner: st.one_of(
        st.builds(lambda parts: {"$and": parts}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda parts: {"$or": parts}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda part: {"$not": part}, inner),
    ),
    max_leaves=4,
)
chunks = st.tuples(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), metadatas)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 12), chunks),
        st.tuples(st.just("delete"), st.integers(0, 12), st.none()),
        st.tuples(st.sampled_from(["commit", "merge"]), st.none(), st.none()),
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(history=steps, condition=conditions, query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
def test_any_history_ends_as_a_fresh_build_and_filters_equal_brute_force(
    history: list[tuple[str, Any, Any]],
    condition: dict[str, Any],
    query: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("history")
    options = IndexSettings(analyzer=PLAIN, segments_per_tier=3, embedding_cache=False)
    embedder, text = HashingEmbedder(dimensions=16), " ".join(query)
    index = LocalIndex.create(folder / "lived", embedder=embedder, settings=options)
    expected: dict[str, tuple[str, dict[str, Any]]] = {}
    for action, number, chunk in history:
        if action == "put":
            expected[f"c{number}"] = chunk
            single(index, f"c{number}", chunk[0], **chunk[1])
        elif action == "delete":
            index.delete(ids=[f"c{number}"])
            expected.pop(f"c{number}", None)
        else:
            index.merge() if action == "merge" else index.commit()
    index.commit()
    fresh = LocalIndex.create(folder / "fresh", embedder=embedder, settings=options)
    with fresh:
        for chunk_id, (content, metadata) in expected.items():
            single(fresh, chunk_id, content, **metadata)
    reopened = LocalIndex.open(folder / "lived", embedder=embedder)
    assert index.chunk_ids() == fresh.chunk_ids() == reopened.chunk_ids() == sorted(expected)
    passing = {i for i, (_, metadata) in expected.items() if parse_filter(condition).matches(metadata)}
    for one in (index, reopened):
        assert one.bm25(text, k=5) == fresh.bm25(text, k=5)
        assert one.dense(text, k=5) == fresh.dense(text, k=5)
        assert [d.metadata for d in one.get(sorted(expected))] == [expected[i][1] for i in sorted(expected)]
        words = {i for i in passing if set(query) & set(expected[i][0].split())}
        found = one.bm25(text, k=4, filter=condition)
        assert {hit.chunk_id for hit in found} <= words
        assert len(found) == min(4, len(words))
        near = one.dense(text, k=4, filter=condition)
        assert {hit.chunk_id for hit in near} <= passing
        assert len(near) == min(4, len([i for i in passing if expected[i][0].strip()]))
