"""The reading half of the local index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rag_app.errors import ConfigError, IndexDamagedError
from rag_app.index.local.doors import count_of, query_text
from rag_app.index.local.identity import check_canaries, check_embedder, embedder_of
from rag_app.index.local.manifest import check_contents, damaged_files
from rag_app.index.local.opened import Opened

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from langchain_core.documents import Document

    from rag_app.embed import Embedder
    from rag_app.index.base import FilterLike
    from rag_app.index.local.snapshot import Snapshot
    from rag_app.index.settings import IndexSettings
    from rag_app.types import Hit, LoadedDocument

T = TypeVar("T")


class IndexReader:
    """Both rankings, the chunks and the documents of one committed state."""

    def __init__(self, path: Path, manifest: dict[str, Any], opened: Opened, embedder: Embedder | None) -> None:
        self.path = path
        self._manifest = manifest
        self._opened = opened
        self._embedder = embedder
        self._made_embedder = embedder is None  # from the manifest, when it is first needed
        self._verified = False

    @property
    def embedder(self) -> Embedder:
        """The embedding model; made from the manifest when none was given. ConfigError when that cannot be."""
        if self._embedder is None:
            self._embedder = embedder_of(self._manifest)
            check_embedder(self._manifest, self._embedder)
        return self._embedder

    @property
    def _snapshot(self) -> Snapshot:
        return self._opened.snapshot

    def _check_canaries(self) -> None:
        if not self._verified:
            check_canaries(self._manifest, self.embedder)
            self._verified = True

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The query's vector, (d,) of unit length; zeros for a blank query. The first call checks the canaries."""
        self._check_canaries()
        if not query_text(text).strip():
            import numpy as np

            return np.zeros(self._opened.dimension, dtype=np.float32)
        vector: npt.NDArray[np.float32] = self.embedder.encode([text], query=True)[0]
        return vector

    def bm25(self, query: str, *, k: int, filter: FilterLike = None) -> tuple[Hit, ...]:
        """Chunks that share a term with the query, by BM25."""
        query, k = query_text(query), count_of(k)
        return self._reading(lambda: self._snapshot.bm25(query, k=k, filter=filter))

    def dense(self, query: str, *, k: int, filter: FilterLike = None) -> tuple[Hit, ...]:
        """Chunks by the cosine of their vector with the query's; none for an index without vectors."""
        if self._opened.dimension == 0 or len(self) == 0:
            from rag_app.filters import parse_filter

            parse_filter(filter or {})
            return ()
        return self.dense_by_vectors(self.embed_query(query)[None], k=k, filters=[filter])[0]

    def dense_by_vectors(
        self,
        vectors: npt.ArrayLike,
        *,
        k: int,
        filters: FilterLike | Sequence[FilterLike] = None,
        exact: bool = False,
    ) -> list[tuple[Hit, ...]]:
        """`dense` for given query vectors (q, d): one filter for all, or a list of one for each.

        `exact` scans all rows, whatever the setting `dense`.
        EmbeddingError for another dimension or NaN, ConfigError when filters and queries differ in number.
        """
        from rag_app.filters import filter_each
        from rag_app.index.local.vectors import check_queries

        queries, k = check_queries(vectors, self._opened.dimension), count_of(k)
        each = filter_each(filters, len(queries))
        return self._reading(lambda: self._snapshot.dense(queries, k=k, filters=each, exact=exact))

    def get(self, ids: Sequence[str]) -> list[Document]:
        """Copies of the chunks in the order of `ids`; unknown ids are left out."""
        return self._reading(lambda: self._snapshot.get(ids))

    def document(self, doc_id: str) -> LoadedDocument:
        """The document that chunks are spans of; KeyError when it is not there."""
        return self._reading(lambda: self._snapshot.document(doc_id))

    def bm25_terms(self, query: str, chunk_id: str) -> dict[str, float]:
        """What each matched term contributes to the chunk's score; together they are the score."""
        return self._reading(lambda: self._snapshot.bm25_terms(query, chunk_id))

    def bm25_score(self, query: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The BM25 score of each chunk that is there; 0 where no term matches."""
        return self._reading(lambda: self._snapshot.bm25_score(query, chunk_ids))

    def dense_score(self, query: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """The cosine of each chunk that is there."""
        if self._opened.dimension == 0 or len(self) == 0:
            return {}
        vector = self.embed_query(query)
        return self._reading(lambda: self._snapshot.dense_score(vector, chunk_ids))

    def vectors(self, ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """The chunks' vectors, (n, d); KeyError for an unknown id. A blank chunk has zeros."""
        result: npt.NDArray[np.float32] = self._reading(lambda: self._snapshot.vectors(ids))
        return result

    def chunk_ids(self) -> list[str]:
        """All chunks, in order of id."""
        return self._reading(lambda: self._snapshot.chunk_ids())

    def chunks_of(self, doc_id: str) -> list[Document]:
        """The chunks of a document, in order of their place; none for an unknown one."""
        return self._reading(lambda: self._snapshot.chunks_of(doc_id))

    def documents(self) -> list[tuple[str, str, str]]:
        """(doc_id, source, fingerprint) of every document, in order of source and id."""
        return self._reading(lambda: self._snapshot.documents())

    def sources(self) -> dict[str, str]:
        """Each source with the id of its document (the first, when it has several)."""
        result: dict[str, str] = {}
        for doc_id, source, _ in self.documents():
            result.setdefault(source, doc_id)
        return result

    def fields(self) -> dict[str, str]:
        """The metadata fields that filters can name, with the kinds of their values."""
        return self._reading(lambda: self._snapshot.fields())

    def __len__(self) -> int:
        return self._opened.count

    def __bool__(self) -> bool:
        return True

    @property
    def settings(self) -> IndexSettings:
        """Analyzer, BM25 and dense settings in effect."""
        return self._opened.settings

    @property
    def manifest(self) -> dict[str, Any]:
        """What the index was built with; a copy."""
        return dict(self._manifest)

    @property
    def notes(self) -> dict[str, Any]:
        """What was measured about the corpus; a copy."""
        return dict(self._manifest["notes"])

    def verify(self) -> list[str]:
        """Every file against its checksum; one sentence for each that is missing or changed."""
        return damaged_files(self.path, self._manifest)

    def _reading(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except (IndexError, ValueError, RuntimeError, IndexDamagedError) as error:
            if isinstance(error, ConfigError):
                raise
            # A file that was changed shows in its checksum; anything else is our fault and passes untouched.
            check_contents(self.path, self._manifest)
            raise
