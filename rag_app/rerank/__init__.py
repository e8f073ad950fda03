"""Candidates in, evidence out: the best few, scored against the question."""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.rerank.base import Reranker, blended, z_scores
    from rag_app.rerank.cross_encoder import CrossEncoderReranker
    from rag_app.rerank.late_interaction import LateInteractionReranker, max_sim
    from rag_app.rerank.llm import LLMReranker
    from rag_app.rerank.members import Reranking
    from rag_app.rerank.none import NoReranker

__all__ = [
    "CrossEncoderReranker",
    "LLMReranker",
    "LateInteractionReranker",
    "NoReranker",
    "Reranker",
    "Reranking",
    "blended",
    "max_sim",
    "z_scores",
]

__getattr__ = lazy_names(
    __name__,
    {
        "base": ("Reranker", "blended", "z_scores"),
        "cross_encoder": ("CrossEncoderReranker",),
        "late_interaction": ("LateInteractionReranker", "max_sim"),
        "llm": ("LLMReranker",),
        "members": ("Reranking",),
        "none": ("NoReranker",),
    },
)
