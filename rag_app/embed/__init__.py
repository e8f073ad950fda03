"""Texts to vectors: unit rows, whatever the model."""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.embed.base import Embedder, ForeignEmbedder, as_embedder
    from rag_app.embed.checks import check_vectors, overlong
    from rag_app.embed.hashing import HashingEmbedder
    from rag_app.embed.members import Embedding, default_embedding
    from rag_app.embed.openai import OpenAIEmbedder
    from rag_app.embed.packaged import PackagedEmbedder
    from rag_app.embed.sentence_transformer import SentenceTransformerEmbedder

__all__ = [
    "Embedder",
    "Embedding",
    "ForeignEmbedder",
    "HashingEmbedder",
    "OpenAIEmbedder",
    "PackagedEmbedder",
    "SentenceTransformerEmbedder",
    "as_embedder",
    "check_vectors",
    "default_embedding",
    "overlong",
]

__getattr__ = lazy_names(
    __name__,
    {
        "base": ("Embedder", "ForeignEmbedder", "as_embedder"),
        "checks": ("check_vectors", "overlong"),
        "hashing": ("HashingEmbedder",),
        "members": ("Embedding", "default_embedding"),
        "openai": ("OpenAIEmbedder",),
        "packaged": ("PackagedEmbedder",),
        "sentence_transformer": ("SentenceTransformerEmbedder",),
    },
)
