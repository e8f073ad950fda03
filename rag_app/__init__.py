"""rag_app: LangChain-native retrieval-augmented generation whose answers can be checked.

The public names are imported when they are first used, so `import rag_app` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

__version__ = "0.1.0"

_HOMES = {
    "answer": ("Answer", "Passage"),
    "settings": ("Settings",),
    "pipeline": ("build_index", "build_chain", "build_stages", "open_index", "stream_answer", "astream_answer"),
    "load": ("Loader",),
    "split": ("RecursiveSplitter", "SemanticSplitter", "SentenceWindowSplitter", "ParentSplitter", "ProfileSplitter"),
    "embed": ("PackagedEmbedder", "HashingEmbedder", "SentenceTransformerEmbedder"),
    "index": ("LocalIndex", "LocalVectorStore"),
    "retrieve": ("BM25Retriever", "DenseRetriever", "HybridRetriever", "reciprocal_rank_fusion"),
    "rerank": ("CrossEncoderReranker", "LateInteractionReranker", "LLMReranker"),
    "synthesize": ("ExtractiveSynthesizer", "LLMSynthesizer"),
    "verify": ("Verifier",),
    "integrate": ("AnswerParser", "as_tool", "cited_prompt", "parse_citations", "verified"),
    "trace": ("Ranked", "RetrievalTrace"),
    "types": ("Citation", "Claim", "ConfigError", "Hit", "RagAppError", "Span", "Verdict"),
}

__all__ = ["__version__", *(name for names in _HOMES.values() for name in names)]

if TYPE_CHECKING:
    from rag_app.answer import Answer as Answer
    from rag_app.pipeline import build_chain as build_chain
    from rag_app.pipeline import build_index as build_index
    from rag_app.settings import Settings as Settings


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
