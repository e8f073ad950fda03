"""The kinds that the settings know under `rerank`. A new one is one file and one line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_app.rerank.cross_encoder import CrossEncoderReranker
from rag_app.rerank.late_interaction import LateInteractionReranker
from rag_app.rerank.llm import LLMReranker
from rag_app.rerank.none import NoReranker

Reranking = Annotated[
    NoReranker | LateInteractionReranker | CrossEncoderReranker | LLMReranker, Field(discriminator="kind")
]
