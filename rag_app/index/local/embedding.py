"""Vectors for the chunks of an index, from its cache where it has them."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_app.errors import EmbeddingError
from rag_app.index.local.identity import check_embedder
from rag_app.index.local.opened import Opened
from rag_app.index.local.reader import IndexReader

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.embed import Embedder
    from rag_app.embed.cache import EmbeddingCache
    from rag_app.index.local.container import Array
    from rag_app.index.local.writer import Writer

Progress = Callable[[int, int, str], None]
# The cache may hold twice as many vectors as the index before it is cleared up, and these.
_SPARE = 1000


class IndexEmbedding(IndexReader):
    """The half of the writing index that makes vectors."""

    def __init__(self, path: Path, manifest: dict[str, Any], opened: Opened, embedder: Embedder | None) -> None:
        super().__init__(path, manifest, opened, embedder)
        self._mutex = threading.RLock()
        self._writer: Writer | None = None
        self._cache: EmbeddingCache | None = None
        self.progress: Progress | None = None

    @abstractmethod
    def _begin(self) -> Writer:
        """The writer; waits for the lock."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the lock."""

    def _take_up(self, manifest: dict[str, Any], opened: Opened) -> None:
        """Go on from a state that another writer committed.

        IndexMismatchError when its vectors are of another model than the one at hand: the state stays as it was.
        """
        if manifest["embedder"] != self._manifest["embedder"]:
            if self._made_embedder:
                self._embedder = None
            elif self._embedder is not None:
                check_embedder(manifest, self._embedder)
            self._cache = None
        if manifest["canaries"] != self._manifest["canaries"]:
            self._verified = False
        self._manifest, self._opened = manifest, opened

    def embed_chunks(
        self, chunks: Sequence[Document], *, progress: Progress | None = None
    ) -> tuple[dict[str, Array], dict[str, str]]:
        """Vectors by chunk id, from the cache where it has them; and the reason for each chunk that has none."""
        if self._opened.dimension == 0:
            return {}, {}
        from rag_app.embed.batches import embed_texts
        from rag_app.index.local.records import text_to_index

        texts = {str(chunk.id): text_to_index(chunk) for chunk in chunks}
        texts = {chunk_id: text for chunk_id, text in texts.items() if text.strip()}
        embedder = self.embedder
        if texts:
            self._check_canaries()
        with self._mutex:
            cache = self._open_cache()
            if cache is not None:
                self._begin()  # the cache has one writer, as the index has
            vectors, reasons = embed_texts(embedder, texts, cache=cache, progress=progress or self.progress)
        return dict(vectors), reasons

    def _embed_or_raise(self, chunks: Sequence[Document]) -> Mapping[str, Array]:
        vectors, reasons = self.embed_chunks(chunks)
        if reasons:
            shown = "; ".join(f"{chunk_id}: {reason}" for chunk_id, reason in list(reasons.items())[:5])
            raise EmbeddingError(f"{len(reasons)} of {len(chunks)} chunks have no usable vector: {shown}")
        return vectors

    def _open_cache(self) -> EmbeddingCache | None:
        if self.settings.embedding_cache and self._cache is None:
            from rag_app.embed.cache import EmbeddingCache

            self._cache = EmbeddingCache(self.path / "cache", self.embedder)
        return self._cache

    def prune_cache(self, *, only_when_large: bool = False) -> int:
        """Forget kept vectors of other models and of texts that no chunk has; how many were forgotten.

        `only_when_large`: not before they are more than the index has. Does nothing while changes wait for a commit.
        """
        if self._embedder is None or self._opened.dimension == 0 or self._writer is not None:
            return 0
        with self._mutex:
            cache = self._open_cache()
            if cache is None or not (self.path / "cache").exists():
                return 0
            if only_when_large and not cache.others() and len(cache) <= 2 * len(self) + _SPARE:
                return 0
            self._begin()
            try:
                return cache.keep_only(self._texts())
            finally:
                self.close()

    def _texts(self) -> Iterator[str]:
        from rag_app.index.local.records import read_chunk, text_to_index

        for part in self._snapshot.segments:
            for row in part.rows().tolist():
                yield text_to_index(read_chunk("", part.segment.chunks[row]))
