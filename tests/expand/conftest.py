"""One document in an index that only knows documents, and chunks of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document

from rag_app.types import Layout, LoadedDocument, Page

TEXT = "First one here. Second one there. Third one too. Fourth is last. Fifth and end. Sixth is after the end."


class Documents:
    """What expanders ask of an index."""

    def __init__(self, *documents: LoadedDocument) -> None:
        self.by_id = {str(document.id): document for document in documents}

    def document(self, doc_id: str) -> LoadedDocument:
        return self.by_id[doc_id]


@pytest.fixture
def text() -> str:
    return TEXT


@pytest.fixture
def index() -> Documents:
    layout = Layout(pages=(Page(start=0, end=34), Page(start=34, end=len(TEXT))))
    return Documents(LoadedDocument(id="d", page_content=TEXT, metadata={"doc_id": "d"}, layout=layout))


@pytest.fixture
def chunk() -> Callable[..., Document]:
    def make(start: int, end: int, **metadata: Any) -> Document:
        own = {"doc_id": "d", "start_index": start, "end_index": end, "source": "d.txt", **metadata}
        return Document(id=f"d:{start}-{end}", page_content=TEXT[start:end], metadata=own)

    return make
