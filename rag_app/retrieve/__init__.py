"""Question in, candidates out: by words, by vectors, by both."""

from typing import Annotated

from pydantic import Field

from rag_app.retrieve.bm25 import BM25Retriever
from rag_app.retrieve.dense import DenseRetriever
from rag_app.retrieve.fusion import distribution_based_score_fusion, linear_fusion, reciprocal_rank_fusion
from rag_app.retrieve.hybrid import HybridRetriever
from rag_app.retrieve.query import QueryRetriever

Retriever = Annotated[BM25Retriever | DenseRetriever | HybridRetriever | QueryRetriever, Field(discriminator="kind")]

__all__ = [
    "BM25Retriever",
    "DenseRetriever",
    "HybridRetriever",
    "QueryRetriever",
    "Retriever",
    "distribution_based_score_fusion",
    "linear_fusion",
    "reciprocal_rank_fusion",
]
