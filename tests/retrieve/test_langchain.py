"""LangChain's own standard tests, and its frozen parts with ours in them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests

from rag_app.rerank import NoReranker
from rag_app.retrieve import BM25Retriever, DenseRetriever, HybridRetriever

community = [
    pytest.mark.community,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning"),
]


class Standard(RetrieversIntegrationTests):
    """The suite, on the small index in memory."""

    @pytest.fixture(autouse=True)
    def _with_index(self, index: Any) -> None:
        self.index = index

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": self.index}

    @property
    def retriever_query_example(self) -> str:
        return "the pump, the filter, the day and the team"

    @property
    def num_results_arg_name(self) -> str:
        return "top_k"


class TestBM25(Standard):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return BM25Retriever


class TestDense(Standard):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return DenseRetriever


class TestHybrid(Standard):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return HybridRetriever


del Standard


def test_a_retriever_tool_gives_the_texts_and_the_documents(index: Any) -> None:
    tool = create_retriever_tool(
        HybridRetriever(index=index, top_k=1), "manual", "The manual.", response_format="content_and_artifact"
    )
    message = tool.invoke({"type": "tool_call", "id": "1", "name": "manual", "args": {"query": "holiday requests"}})
    assert "thirty days of holiday" in message.content
    assert message.artifact[0].metadata["source"] == "holiday.txt"


class TestFrozenParts:
    """EnsembleRetriever, ContextualCompressionRetriever and their kind take our parts."""

    pytestmark = community

    def test_the_ensemble_retriever_takes_ours_as_arms(self, index: Any) -> None:
        from langchain_classic.retrievers import EnsembleRetriever

        arms = [BM25Retriever(index=index), DenseRetriever(index=index)]
        found = EnsembleRetriever(retrievers=arms, weights=[0.5, 0.5], id_key=None).invoke("closed valve")
        ours = HybridRetriever(retrievers=arms, weights=[0.5, 0.5]).invoke("closed valve")
        assert [d.page_content for d in ours] == [d.page_content for d in found]

    def test_the_hybrid_retriever_takes_the_frozen_bm25_retriever(self, index: Any) -> None:
        from langchain_community.retrievers import BM25Retriever as Frozen

        texts = [
            Document(page_content=d.page_content, metadata={"source": s}) for s, d in enumerate(index.chunks.values())
        ]
        found = HybridRetriever(index=index, retrievers=[Frozen.from_documents(texts)]).invoke("closed valve")
        assert "BM25Retriever" in found.trace.rankings  # type: ignore[attr-defined]

    def test_contextual_compression_takes_our_retriever_and_reranker(self, index: Any) -> None:
        from langchain_classic.retrievers import ContextualCompressionRetriever

        retriever = ContextualCompressionRetriever(
            base_retriever=HybridRetriever(index=index), base_compressor=NoReranker(top_n=1)
        )
        (found,) = retriever.invoke("closed valve")
        assert found.metadata["source"] == "valve.txt"
        assert found.metadata["stages"]["rrf"]["rank"] == 1
