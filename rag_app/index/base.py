"""What every index can do. The retrievers know this protocol, not the folder behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rag_app.filters import Filter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from langchain_core.documents import Document

    from rag_app.types import Hit, LoadedDocument

FilterLike = Mapping[str, Any] | Filter | None


@runtime_checkable
class Index(Protocol):
    """Chunks under two rankings, with the documents they come from.

    Rankings hold at most k hits, best first, ties by chunk id; every hit passes the filter, and there are
    min(k, matches) of them.
    """

    def upsert(self, document: LoadedDocument, chunks: Sequence[Document]) -> None:
        """Put in a document with its chunks, in place of what was there under its source."""

    def add(self, batch: Iterable[tuple[LoadedDocument, Sequence[Document]]]) -> None:
        """`upsert` for each pair."""

    def delete(
        self, sources: Iterable[str] | None = None, ids: Iterable[str] | None = None, filter: FilterLike = None
    ) -> int:
        """Take out chunks by source, by chunk or document id, or by filter; the number of chunks taken out."""

    def commit(self) -> None:
        """Make what was put in and taken out visible and durable, all at once."""

    def bm25(self, query: str, *, k: int, filter: FilterLike = None) -> tuple[Hit, ...]:
        """Chunks that share a term with the query, by BM25."""

    def dense(self, query: str, *, k: int, filter: FilterLike = None) -> tuple[Hit, ...]:
        """Chunks by the cosine of their vector with the query's, in [-1, 1]."""

    def dense_by_vectors(
        self,
        vectors: npt.ArrayLike,
        *,
        k: int,
        filters: FilterLike | Sequence[FilterLike] = None,
    ) -> list[tuple[Hit, ...]]:
        """`dense` for given query vectors (q, d): one filter for all, or a list of one for each."""

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The query's vector, (d,) of unit length."""

    def get(self, ids: Sequence[str]) -> list[Document]:
        """Copies of the chunks in the order of `ids`; unknown ids are left out."""

    def document(self, doc_id: str) -> LoadedDocument:
        """The document that chunks are spans of; KeyError when it is not there."""

    def bm25_terms(self, query: str, chunk_id: str) -> dict[str, float]:
        """What each matched term contributes to the chunk's score; together they are the score."""

    def bm25_score(self, query: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The BM25 score of each chunk that is there; 0 where no term matches."""

    def dense_score(self, query: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The cosine of each chunk that is there."""

    def vectors(self, ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """The chunks' vectors, (n, d); KeyError for an unknown id."""

    def chunk_ids(self) -> list[str]:
        """All chunks, in order of id."""

    def sources(self) -> dict[str, str]:
        """Each source with the id of its document (the first, when it has several)."""

    def fields(self) -> dict[str, str]:
        """The metadata fields that filters can name, with the kinds of their values."""

    def __len__(self) -> int:
        """Chunks that can be found."""
        ...

    @property
    def manifest(self) -> dict[str, Any]:
        """What the index was built with; a copy."""

    @property
    def notes(self) -> dict[str, Any]:
        """What was measured about the corpus (`set_notes`); a copy."""

    def set_notes(self, notes: Mapping[str, Any]) -> None:
        """Keep measurements with the index; in effect at the next commit."""
