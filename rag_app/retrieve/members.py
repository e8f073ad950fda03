"""The kinds that the settings know under `retrieve`. A new one is one file and one line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_app.retrieve.bm25 import BM25Retriever
from rag_app.retrieve.dense import DenseRetriever
from rag_app.retrieve.hybrid import HybridRetriever
from rag_app.retrieve.query.retriever import QueryRetriever

Retriever = Annotated[BM25Retriever | DenseRetriever | HybridRetriever | QueryRetriever, Field(discriminator="kind")]
