"""rag_app: LangChain-native retrieval-augmented generation whose answers can be checked.

The public names are imported when they are first used, so `import rag_app` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Answer": "answer",
    "Passage": "answer",
    "Settings": "settings",
    "build_index": "pipeline",
    "build_chain": "pipeline",
    "build_stages": "pipeline",
    "open_index": "pipeline",
    "stream_answer": "pipeline",
    "astream_answer": "pipeline",
    "Loader": "load",
    "RecursiveSplitter": "split",
    "SemanticSplitter": "split",
    "SentenceWindowSplitter": "split",
    "ParentSplitter": "split",
    "ProfileSplitter": "split",
    "PackagedEmbedder": "embed",
    "HashingEmbedder": "embed",
    "SentenceTransformerEmbedder": "embed",
    "LocalIndex": "index",
    "LocalVectorStore": "index",
    "BM25Retriever": "retrieve",
    "DenseRetriever": "retrieve",
    "HybridRetriever": "retrieve",
    "reciprocal_rank_fusion": "retrieve",
    "CrossEncoderReranker": "rerank",
    "LateInteractionReranker": "rerank",
    "LLMReranker": "rerank",
    "ExtractiveSynthesizer": "synthesize",
    "LLMSynthesizer": "synthesize",
    "Verifier": "verify",
    "AnswerParser": "integrate",
    "as_tool": "integrate",
    "cited_prompt": "integrate",
    "parse_citations": "integrate",
    "verified": "integrate",
    "Ranked": "trace",
    "RetrievalTrace": "trace",
    "Citation": "types",
    "Claim": "types",
    "ConfigError": "types",
    "Hit": "types",
    "RagAppError": "types",
    "Span": "types",
    "Verdict": "types",
}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from rag_app.answer import Answer as Answer
    from rag_app.pipeline import build_chain as build_chain
    from rag_app.pipeline import build_index as build_index
    from rag_app.settings import Settings as Settings


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rag_app' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rag_app.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
