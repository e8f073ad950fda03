"""LangChain's own suite for vector stores, its indexing, and its selection of diverse rows as an oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from rag_app.embed.base import unit_rows
from rag_app.index import LocalVectorStore
from rag_app.index.vectorstore import mmr


class TestLangChainSuite(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> VectorStore:  # type: ignore[override]
        return LocalVectorStore(self.get_embeddings(), tmp_path / "store")


def test_indexing_again_by_langchain_repairs_nothing_and_loses_nothing(store: LocalVectorStore) -> None:
    manager = InMemoryRecordManager(namespace="test")
    manager.create_schema()
    documents = [Document(page_content=f"text {i}", metadata={"source": f"{i}.txt"}) for i in range(3)]
    options = {"cleanup": "full", "source_id_key": "source", "key_encoder": "sha256"}
    assert index(documents, manager, store, **options)["num_added"] == 3  # type: ignore[arg-type]
    assert index(documents, manager, store, **options)["num_skipped"] == 3  # type: ignore[arg-type]
    assert index(documents[:1], manager, store, **options)["num_deleted"] == 2  # type: ignore[arg-type]
    assert [d.page_content for d in store.similarity_search("text", k=9)] == ["text 0"]


def test_mmr_passes_over_a_copy_for_something_else() -> None:
    vectors = np.asarray([[1, 0], [1, 0], [0.8, 0.6]], dtype=np.float32)
    # second step: row 1 has .5 * 1 - .5 * 1 = 0, row 2 has .5 * .8 - .5 * .8 = 0 less nothing: the tie goes to row 1
    assert mmr([1.0, 1.0, 0.8], vectors, k=2, lambda_mult=0.4) == [0, 2]
    assert mmr([1.0, 1.0, 0.8], vectors, k=2, lambda_mult=1.0) == [0, 1]


vectors_for_mmr = st.lists(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=4, max_size=4).filter(any), min_size=1, max_size=8
)


@given(vectors_for_mmr, st.integers(1, 9), st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
def test_mmr_is_langchains(rows: list[list[float]], k: int, balance: float) -> None:
    query = np.asarray([0.8, 0.4, 0.2, 0.4])
    matrix = unit_rows(rows).astype(np.float64)
    scores = matrix @ query
    order = sorted(range(len(rows)), key=lambda i: -scores[i])
    ours = mmr([scores[i] for i in order], matrix[order].astype(np.float32), k=k, lambda_mult=balance)
    theirs = maximal_marginal_relevance(query, [row.tolist() for row in matrix[order]], lambda_mult=balance, k=k)

    def gain(place: int, taken: list[int]) -> float:
        likeness = max((float(matrix[order][place] @ matrix[order][i]) for i in taken), default=0.0)
        return balance * scores[order][place] - (1 - balance) * likeness

    assert len(ours) == len(theirs) == min(k, len(rows))
    for step, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert gain(a, ours[:step]) == pytest.approx(gain(b, ours[:step]), abs=1e-6)
        if a != b:  # a tie: from here on the two differ
            break


@pytest.mark.parametrize("cleanup", ["incremental", "full", "scoped_full"])
@pytest.mark.parametrize("encoder", ["sha256", lambda document: document.metadata["source"]])
def test_langchains_indexing_cleans_up(store: LocalVectorStore, cleanup: Any, encoder: Any) -> None:
    manager = InMemoryRecordManager(namespace="test")
    manager.create_schema()

    def run(*texts: tuple[str, str]) -> dict[str, int]:
        documents = [Document(page_content=text, metadata={"source": source}) for source, text in texts]
        options = {"cleanup": cleanup, "source_id_key": "source", "key_encoder": encoder}
        return dict(index(documents, manager, store, **options))

    def held() -> list[str]:
        return sorted(document.page_content for document in store.index.get(store.index.chunk_ids()))

    assert run(("a", "one"), ("b", "two"))["num_added"] == 2
    assert run(("a", "one"), ("b", "two"))["num_added"] == 0
    if encoder == "sha256":
        run(("a", "one, changed"))
        assert held() == (["one, changed"] if cleanup == "full" else ["one, changed", "two"])
    run()
    assert held() == ([] if cleanup == "full" else ["one, changed", "two"] if encoder == "sha256" else ["one", "two"])
