"""Reranking by token vectors of the embedder that is there anyway: no training, no extra weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from langchain_core.documents import Document
from pydantic import Field, PrivateAttr

from rag_app.rerank.base import Reranker, Scored
from rag_app.rerank.token_cache import TokenCache
from rag_app.rerank.windows import best, text_windows
from rag_app.trace import RetrievalTrace
from rag_app.types import ConfigError


def max_sim(query: np.ndarray[Any, Any], passage: np.ndarray[Any, Any]) -> float:
    """The mean over query tokens of the best cosine with a token of the passage: (q, d), (p, d) -> [-1, 1].

    Khattab and Zaharia, "ColBERT", SIGIR 2020; theirs is the sum, ours the mean, so that questions of different length
    share a scale. No tokens on either side: 0.
    """
    if not len(query) or not len(passage):
        return 0.0
    return float((query @ passage.T).max(axis=1).mean())


class LateInteractionReranker(Reranker):
    """Candidates by MaxSim over the embedder's token vectors, blended with the fused score.

    It is no cross-encoder: alone it improves sentence retrieval and spoils a good fusion over long passages, so by
    default it has only a part of the say, and none where the index found that the embedder does not know the corpus's
    language or falls behind BM25 at finding its sentences (the `trust` and the `refinement` that a fusion with
    `weights: auto` notes in the trace). Where it has no say, nothing is encoded: the order is that of the fusion, and
    the relevance the fused score, scaled to [0, 1] by the best candidate's. `embeddings` is an embedder with
    `token_vectors`.
    """

    kind: Literal["late-interaction"] = "late-interaction"
    max_candidates: int | None = Field(default=10, ge=1, description="How many candidates are scored.")
    blend: float | None = Field(default=0.5, ge=0, description="The model's weight over the fused score; null: alone.")
    embeddings: Any = Field(default=None, exclude=True, repr=False)
    _cache: TokenCache = PrivateAttr(default_factory=TokenCache)

    def weight(self, trace: RetrievalTrace) -> float:
        noted = [float(each.get("refinement", each["trust"])) for each in trace.parameters.values() if "trust" in each]
        return (self.blend or 0.0) * min(noted, default=1.0)

    def prepare(self) -> None:
        if hasattr(self.embeddings, "token_vectors"):
            self.embeddings.token_vectors(["load"], query=True)

    def score(self, query: str, documents: Sequence[Document]) -> Scored:
        embedder = self.embeddings
        if embedder is None or not hasattr(embedder, "token_vectors"):
            raise ConfigError(
                "rerank: late-interaction needs an embedder with token vectors; "
                "give it one (`embeddings=PackagedEmbedder()`), or take `rerank.kind: none`"
            )
        windows = [text_windows(d.page_content, embedder.count_tokens, embedder.max_tokens) for d in documents]
        question = embedder.token_vectors([query], query=True)[0]
        vectors = iter(self._cache.get([text for texts in windows for text in texts], embedder.token_vectors))
        raw = tuple(best(max_sim(question, next(vectors)) for _ in texts) for texts in windows)
        return Scored(raw, tuple(min(1.0, max(0.0, value)) for value in raw))
