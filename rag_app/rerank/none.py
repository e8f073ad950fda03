"""No reranking: the fused order stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from pydantic import Field

from rag_app.rerank.base import Reranker
from rag_app.trace import Ranked, Removal, trace_of


class NoReranker(Reranker):
    """Hands on the first `top_n` candidates as they are; a threshold cannot be asked of it."""

    kind: Literal["none"] = "none"
    threshold: None = Field(default=None, exclude=True)
    max_candidates: None = Field(default=None, exclude=True)
    blend: None = Field(default=None, exclude=True)
    max_latency_ms: None = Field(default=None, exclude=True)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Ranked:
        trace = trace_of(documents, query)
        count = len(documents) if self.top_n is None else self.top_n
        detail = f"only top_n = {count} go on"
        removed = [Removal(str(d.id), "rerank", "beyond top_k", detail) for d in documents[count:]]
        return Ranked(documents[:count], trace.add("rerank", None, removed=removed))
