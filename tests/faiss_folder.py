"""A FAISS store of LangChain's, saved as a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder

EMBEDDER = HashingEmbedder(dimensions=16)

DOCUMENTS = [Document(page_content=f"the pump {i}", metadata={"n": i}, id=f"id{i}") for i in range(4)]


def faiss_store() -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the frozen packages warn on import
        from langchain_community.vectorstores import FAISS
    return FAISS


def save(folder: Path, ids: Sequence[Any] = tuple(str(d.id) for d in DOCUMENTS), **options: Any) -> Any:
    """LangChain's store with the documents, saved in the folder."""
    store = faiss_store().from_documents(DOCUMENTS, EMBEDDER, ids=list(ids), **options)
    store.save_local(str(folder))
    return store
