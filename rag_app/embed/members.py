"""The kinds that the settings know under `embed`. A new one is one file and one line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_app.embed.base import Embedder
from rag_app.embed.hashing import HashingEmbedder
from rag_app.embed.openai import OpenAIEmbedder
from rag_app.embed.packaged import PackagedEmbedder, is_installed
from rag_app.embed.sentence_transformer import SentenceTransformerEmbedder

Embedding = Annotated[
    PackagedEmbedder | SentenceTransformerEmbedder | OpenAIEmbedder | HashingEmbedder, Field(discriminator="kind")
]


def default_embedding() -> Embedder:
    """The packaged MiniLM when extra `local` is there, else the same model from the hub."""
    return PackagedEmbedder() if is_installed() else SentenceTransformerEmbedder()
