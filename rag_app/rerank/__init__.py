"""Candidates in, evidence out: the best few, scored against the question."""

from typing import Annotated

from pydantic import Field

from rag_app.rerank.base import Reranker, blended, z_scores
from rag_app.rerank.cross_encoder import CrossEncoderReranker
from rag_app.rerank.late_interaction import LateInteractionReranker, max_sim
from rag_app.rerank.llm import LLMReranker
from rag_app.rerank.none import NoReranker

Reranking = Annotated[
    NoReranker | LateInteractionReranker | CrossEncoderReranker | LLMReranker, Field(discriminator="kind")
]

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
