"""Small real things for the tests of the index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from faiss_folder import save
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalVectorStore
from rag_app.types import LoadedDocument, Span, make_chunk_id, make_doc_id

MakePair = Callable[..., tuple[LoadedDocument, list[Document]]]


def make_pair(source: str, texts: str | Sequence[str], **metadata: Any) -> tuple[LoadedDocument, list[Document]]:
    """A document whose chunks are its lines, with exact offsets."""
    lines = [texts] if isinstance(texts, str) else list(texts)
    text = "\n".join(lines)
    doc_id = make_doc_id(source, text)
    facts = {"source": source, "doc_id": doc_id, **metadata}
    document = LoadedDocument(id=doc_id, page_content=text, metadata=facts)
    chunks, start = [], 0
    for line in lines:
        span = Span(start, start + len(line))
        places = {"start_index": span.start, "end_index": span.end}
        if line:
            chunks.append(Document(id=make_chunk_id(doc_id, span), page_content=line, metadata={**facts, **places}))
        start = span.end + 1
    return document, chunks


@pytest.fixture(scope="session")
def pair() -> MakePair:
    """Makes (document, chunks) from a source and lines."""
    return make_pair


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder that LangChain's FAISS store was saved in."""
    save(tmp_path / "old")
    return tmp_path / "old"


@pytest.fixture
def store(tmp_path: Path) -> LocalVectorStore:
    return LocalVectorStore(HashingEmbedder(), tmp_path / "store")
