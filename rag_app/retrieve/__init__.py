"""Question in, candidates out: by words, by vectors, by both."""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.retrieve.bm25 import BM25Retriever
    from rag_app.retrieve.dense import DenseRetriever
    from rag_app.retrieve.fusion import distribution_based_score_fusion, linear_fusion, reciprocal_rank_fusion
    from rag_app.retrieve.hybrid import HybridRetriever
    from rag_app.retrieve.members import Retriever
    from rag_app.retrieve.query.retriever import QueryRetriever

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

__getattr__ = lazy_names(
    __name__,
    {
        "bm25": ("BM25Retriever",),
        "dense": ("DenseRetriever",),
        "fusion": ("distribution_based_score_fusion", "linear_fusion", "reciprocal_rank_fusion"),
        "hybrid": ("HybridRetriever",),
        "members": ("Retriever",),
        "query.retriever": ("QueryRetriever",),
    },
)
