"""A small index in memory, for tests that need no files: plain BM25 and cosine over a list of chunks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.filters import parse_filter
from rag_app.text import Analyzer
from rag_app.trace import rank
from rag_app.types import Hit, LoadedDocument, Span, make_chunk_id, make_doc_id

FACTS = {
    "pump.txt": "Reset the pump with the red lever. Wait two minutes. Then open the valve slowly.",
    "filter.txt": "The water filter is changed every six months. Rinse the filter housing before you close it.",
    "holiday.txt": "Employees have thirty days of holiday a year. Holiday requests go to the team lead.",
    "cats.txt": "Cats sleep for most of the day. They wake up when the food is served.",
    "valve.txt": "The valve of the pump must be closed before service. A closed valve has a blue mark.",
}


class MemoryIndex:
    """What the retrievers ask of an index, over chunks in memory."""

    def __init__(self, texts: Mapping[str, str], metadata: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.embedder = HashingEmbedder()
        self.analyzer = Analyzer()
        self.notes: dict[str, Any] = {}
        self.documents: dict[str, LoadedDocument] = {}
        self.chunks: dict[str, Document] = {}
        for source, text in texts.items():
            doc_id, more = make_doc_id(source, text), dict((metadata or {}).get(source, {}))
            facts = {"source": source, "doc_id": doc_id, **more}
            self.documents[doc_id] = LoadedDocument(id=doc_id, page_content=text, metadata=facts)
            span = Span(0, len(text))
            chunk_id = make_chunk_id(doc_id, span)
            place = {"start_index": 0, "end_index": len(text), "chunk_index": 0}
            self.chunks[chunk_id] = Document(id=chunk_id, page_content=text, metadata={**facts, **place})
        self.terms = {c: Counter(self.analyzer.terms(d.page_content)) for c, d in self.chunks.items()}
        self.matrix = self.embedder.encode([d.page_content for d in self.chunks.values()])
        self.calls: list[str] = []

    def __len__(self) -> int:
        return len(self.chunks)

    def _passing(self, filter: Mapping[str, Any] | None) -> set[str]:
        condition = parse_filter(dict(filter)) if filter else None
        return {c for c, d in self.chunks.items() if condition is None or condition.matches(d.metadata)}

    def bm25_terms(self, query: str, chunk_id: str) -> dict[str, float]:
        found = {}
        for term in dict.fromkeys(self.analyzer.terms(query)):
            holders = sum(term in terms for terms in self.terms.values())
            count = self.terms[chunk_id][term]
            if count:
                idf = math.log(1 + (len(self.chunks) - holders + 0.5) / (holders + 0.5))
                found[term] = idf * count / (count + 1.2)
        return found

    def bm25(self, query: str, *, k: int, filter: Mapping[str, Any] | None = None) -> tuple[Hit, ...]:
        self.calls.append("bm25")
        scores = {c: sum(self.bm25_terms(query, c).values()) for c in self._passing(filter)}
        return rank({c: s for c, s in scores.items() if s > 0})[:k]

    def bm25_score(self, query: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        return {c: sum(self.bm25_terms(query, c).values()) for c in chunk_ids}

    def embed_query(self, text: str) -> np.ndarray:
        return self.embedder.encode([text], query=True)[0]

    def dense(self, query: str, *, k: int, filter: Mapping[str, Any] | None = None) -> tuple[Hit, ...]:
        self.calls.append("dense")
        return self.dense_by_vectors(self.embedder.encode([query], query=True), k=k, filters=[filter])[0]

    def dense_by_vectors(
        self, vectors: np.ndarray, *, k: int, filters: Sequence[Mapping[str, Any] | None] | None = None
    ) -> list[tuple[Hit, ...]]:
        self.calls.append("dense_by_vectors")
        results = []
        for place, row in enumerate(vectors @ self.matrix.T):
            passing = self._passing(filters[place] if filters else None)
            scores = {c: float(s) for c, s in zip(self.chunks, row, strict=True) if c in passing}
            results.append(rank(scores)[:k])
        return results

    @property
    def manifest(self) -> dict[str, Any]:
        return {"settings": {}}

    def get(self, ids: Sequence[str]) -> list[Document]:
        return [self.chunks[c].model_copy() for c in ids if c in self.chunks]

    def document(self, doc_id: str) -> LoadedDocument:
        return self.documents[doc_id]

    def vectors(self, ids: Sequence[str]) -> np.ndarray:
        order = list(self.chunks)
        return self.matrix[[order.index(c) for c in ids]]

    def chunk_ids(self) -> list[str]:
        return list(self.chunks)


@pytest.fixture
def memory_index() -> type[MemoryIndex]:
    return MemoryIndex


@pytest.fixture
def index() -> MemoryIndex:
    return MemoryIndex(FACTS, {"pump.txt": {"year": 2024}, "valve.txt": {"year": 2023}})
