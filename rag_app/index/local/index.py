"""The local index: a folder of immutable segments under one manifest. One writer, any number of readers."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from rag_app.embed import Embedder, as_embedder
from rag_app.embed.batches import embed_texts
from rag_app.embed.cache import EmbeddingCache
from rag_app.filters import parse_filter
from rag_app.index.base import FilterLike
from rag_app.index.local.container import Array, read_arrays
from rag_app.index.local.identity import (
    canaries_of,
    check_canaries,
    check_embedder,
    check_settings,
    embedder_of,
    identity,
)
from rag_app.index.local.manifest import (
    FORMAT,
    NAME,
    check_contents,
    check_sizes,
    damaged_files,
    files_of,
    read_manifest,
)
from rag_app.index.local.records import fingerprint_of, text_to_index
from rag_app.index.local.segment import Segment
from rag_app.index.local.snapshot import LiveSegment, Snapshot
from rag_app.index.local.writer import Pending, Writer
from rag_app.index.settings import IndexSettings
from rag_app.types import (
    ConfigError,
    EmbeddingError,
    Hit,
    IndexDamagedError,
    IndexLockedError,
    LoadedDocument,
)

Progress = Callable[[int, int, str], None]
T = TypeVar("T")
# Up to this size all checksums are verified on opening: about 10 ms.
_VERIFY_BELOW = 16 << 20
_OPEN_TRIES = 20


class LocalIndex:
    """BM25 and vectors over chunks, with their documents, in a folder.

    `with LocalIndex.create(path, embedder=...) as index:` commits at the end; an exception leaves the index as it was
    at the last commit. Readers see whole commits only; `refresh` takes up those of other processes.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], snapshot: Snapshot, embedder: Embedder | None) -> None:
        self.path = path
        self._manifest = manifest
        self._snapshot = snapshot
        self._embedder = embedder
        self._settings = snapshot.settings
        self._writer: Writer | None = None
        self._mutex = threading.RLock()
        self._lock = FileLock(path / "lock", thread_local=False)
        self._notes: dict[str, Any] | None = None
        self._changes: dict[str, Any] = {}
        self._verified = False
        self._cache: EmbeddingCache | None = None
        self.progress: Progress | None = None

    # ------------------------------------------------------------------------------------------------ making, opening

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        embedder: Embeddings | None,
        settings: IndexSettings | None = None,
        overwrite: bool = False,
    ) -> LocalIndex:
        """A new, empty index in `path`; without an embedder it ranks by BM25 only.

        ConfigError when there is one already, unless `overwrite`: then the old one stays until the first commit.
        """
        folder = Path(path)
        settings = settings or IndexSettings()
        if (folder / NAME).exists() and not overwrite:
            raise ConfigError(f"there is an index in {folder} already; open it, or overwrite it with `--rebuild`")
        if not (folder / NAME).exists() and folder.is_dir() and any(p.name not in _OWN for p in folder.iterdir()):
            raise ConfigError(f"{folder} is not empty and holds no index; name a new folder for it")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"the folder {folder} cannot be made ({error}); name another one") from error
        own = None if embedder is None else as_embedder(embedder)
        manifest = {
            "format": FORMAT,
            "generation": 0,
            "next_segment": 0,
            "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "embedder": None if own is None else identity(own),
            "canaries": None,
            "settings": settings.model_dump(mode="json"),
            "splitter": None,
            "notes": {},
            "segments": [],
            "counts": {"documents": 0, "chunks": 0},
        }
        index = cls(folder, manifest, Snapshot([], settings, 0 if own is None else own.dimension), own)
        index._verified = True
        with index._mutex:
            index._begin(fresh=manifest)
            if not overwrite:
                index.commit()
        return index

    @classmethod
    def open(
        cls, path: str | Path, *, embedder: Embeddings | None = None, settings: IndexSettings | None = None
    ) -> LocalIndex:
        """The index in `path`. Without an embedder, the one named in the manifest is made when it is needed.

        IndexMissingError, IndexDamagedError; IndexMismatchError when it was built with another embedder or analyzer
        than those given. BM25's formula may differ: it is applied on search.
        """
        folder = Path(path)
        own = None if embedder is None else as_embedder(embedder)
        manifest, snapshot = _load(folder, settings)
        if own is not None:
            check_embedder(manifest, own)
        return cls(folder, manifest, snapshot, own)

    @classmethod
    def open_or_create(
        cls, path: str | Path, *, embedder: Embeddings | None, settings: IndexSettings | None = None
    ) -> LocalIndex:
        """The index in `path`, made when it is not there."""
        if (Path(path) / NAME).exists():
            return cls.open(path, embedder=embedder, settings=settings)
        return cls.create(path, embedder=embedder, settings=settings)

    @staticmethod
    def exists(path: str | Path) -> bool:
        """Whether there is an index in `path`, sound or not."""
        return (Path(path) / NAME).exists()

    def refresh(self) -> bool:
        """Take up what other processes committed since; whether there was something."""
        with self._mutex:
            if self._writer is not None:
                return False
            if read_manifest(self.path)["generation"] == self._manifest["generation"]:
                return False
            self._manifest, self._snapshot = _load(self.path, self._settings)
            return True

    def close(self) -> None:
        """Let go of the lock; what was not committed is lost."""
        with self._mutex:
            self._end()

    def __enter__(self) -> LocalIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._writer is not None:
                self.commit()
        finally:
            self.close()

    # --------------------------------------------------------------------------------------------------------- writing

    def _begin(self, *, fresh: dict[str, Any] | None = None) -> Writer:
        if self._writer is not None:
            return self._writer
        try:
            self._lock.acquire(timeout=self._settings.lock_timeout)
        except Timeout:
            raise IndexLockedError(
                f"another process is writing to the index in {self.path} (waited {self._settings.lock_timeout:g} s); "
                "try again when it is done"
            ) from None
        except OSError as error:
            raise ConfigError(f"the index in {self.path} cannot be written ({error})") from error
        try:
            if fresh is None:
                if not self._lock_is_current():
                    self._manifest, self._snapshot = _load(self.path, self._settings)
            elif (self.path / NAME).exists():
                old = read_generation(self.path)
                fresh["generation"], fresh["next_segment"] = old
                self._manifest = fresh
            self._writer = Writer(
                self.path,
                self._manifest,
                self._snapshot.segments,
                self._settings,
                dimension=self._snapshot.dimension,
                embed=self._embed_or_raise,
                clean=fresh is None,
            )
        except BaseException:
            self._lock.release()
            raise
        return self._writer

    def _lock_is_current(self) -> bool:
        return bool(read_manifest(self.path)["generation"] == self._manifest["generation"])

    def _end(self) -> None:
        self._writer = None
        self._notes = None
        self._changes = {}
        if self._lock.is_locked:
            self._lock.release()

    def upsert(
        self,
        document: LoadedDocument,
        chunks: Sequence[Document],
        *,
        vectors: Mapping[str, Array] | None = None,
        fingerprint: str | None = None,
        replace: str = "source",
        keep: Iterable[str] = (),
    ) -> None:
        """Put in a document with its chunks, in place of what was there under its source (or, by "id", its id only).

        Vectors that are not given are made at the next commit. `keep` names documents of the same source that stay.
        """
        check_chunks(document, chunks)
        with self._mutex:
            pending = Pending(
                document, list(chunks), fingerprint or fingerprint_of(document), dict(vectors) if vectors else {}
            )
            self._begin().put(pending, replace=replace, keep=frozenset(keep))

    def add(self, batch: Iterable[tuple[LoadedDocument, Sequence[Document]]]) -> None:
        """`upsert` for each pair."""
        for document, chunks in batch:
            self.upsert(document, chunks)

    def delete(
        self, sources: Iterable[str] | None = None, ids: Iterable[str] | None = None, filter: FilterLike = None
    ) -> int:
        """Take out chunks by source, by chunk or document id, or by filter; the number of chunks taken out."""
        condition = None if filter is None else parse_filter(filter)
        with self._mutex:
            writer = self._begin()
            removed = sum(writer.remove_source(source) for source in _listed(sources, "sources"))
            for item in _listed(ids, "ids"):
                removed += writer.remove_documents([item]) or writer.remove_chunk(item)
            return removed + (writer.remove_matching(condition) if condition is not None else 0)

    def commit(self, progress: Progress | None = None) -> None:
        """Make what was put in and taken out visible and durable, all at once; lets go of the lock."""
        with self._mutex:
            if self._writer is None:
                return
            self.progress = progress or self.progress
            if self._writer.dirty or self._changes or self._notes is not None or self._manifest["generation"] == 0:
                changes = dict(self._changes)
                if self._notes is not None:
                    changes["notes"] = self._notes
                self._writer.flush()
                if self._manifest["canaries"] is None and self._embedder is not None and self._writer.parts:
                    changes["canaries"] = canaries_of(self._embedder)
                self._manifest, self._snapshot = self._writer.commit(changes)
            self._end()

    def merge(self) -> None:
        """Put all segments into one and drop what is dead. Results stay as they are."""
        with self._mutex:
            self._begin().merge(everything=True)
            self.commit()

    def set_notes(self, notes: Mapping[str, Any]) -> None:
        """Keep measurements about the corpus with the index; in effect at the next commit."""
        with self._mutex:
            self._begin()
            self._notes = {**(self._notes if self._notes is not None else self._manifest["notes"]), **notes}

    def set_splitter(self, splitter: Mapping[str, Any]) -> None:
        """Keep the settings of the splitter in the manifest."""
        with self._mutex:
            if self._manifest["splitter"] != dict(splitter):
                self._begin()
                self._changes["splitter"] = dict(splitter)

    def embed_chunks(
        self, chunks: Sequence[Document], *, progress: Progress | None = None
    ) -> tuple[dict[str, Array], dict[str, str]]:
        """Vectors by chunk id, from the cache where it has them; and the reason for each chunk that has none."""
        if self._snapshot.dimension == 0:
            return {}, {}
        texts = {str(chunk.id): text_to_index(chunk) for chunk in chunks}
        texts = {chunk_id: text for chunk_id, text in texts.items() if text.strip()}
        embedder = self.embedder
        if texts:
            self._check_canaries()
        with self._mutex:
            if self._settings.embedding_cache and self._cache is None:
                self._cache = EmbeddingCache(self.path / "cache", embedder)
            if self._cache is not None:
                self._begin()  # the cache has one writer, as the index has
            vectors, reasons = embed_texts(embedder, texts, cache=self._cache, progress=progress or self.progress)
        return dict(vectors), reasons

    def _embed_or_raise(self, chunks: Sequence[Document]) -> Mapping[str, Array]:
        vectors, reasons = self.embed_chunks(chunks)
        if reasons:
            shown = "; ".join(f"{chunk_id}: {reason}" for chunk_id, reason in list(reasons.items())[:5])
            raise EmbeddingError(f"{len(reasons)} of {len(chunks)} chunks have no usable vector: {shown}")
        return vectors

    # --------------------------------------------------------------------------------------------------------- reading

    @property
    def embedder(self) -> Embedder:
        """The embedding model; made from the manifest when none was given. ConfigError when that cannot be."""
        if self._embedder is None:
            self._embedder = embedder_of(self._manifest)
            check_embedder(self._manifest, self._embedder)
        return self._embedder

    def _check_canaries(self) -> None:
        if not self._verified:
            check_canaries(self._manifest, self.embedder)
            self._verified = True

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The query's vector, (d,) of unit length; zeros for a blank query. The first call checks the canaries."""
        self._check_canaries()
        if not text.strip():
            return np.zeros(self._snapshot.dimension, dtype=np.float32)
        vector: npt.NDArray[np.float32] = self.embedder.encode([text], query=True)[0]
        return vector

    def bm25(self, query: str, *, k: int, filter: FilterLike = None) -> tuple[Hit, ...]:
        """Chunks that share a term with the query, by BM25."""
        return self._reading(lambda: self._snapshot.bm25(query, k=k, filter=filter))

    def dense(self, query: str, *, k: int, filter: FilterLike = None) -> tuple[Hit, ...]:
        """Chunks by the cosine of their vector with the query's; none for an index without vectors."""
        if self._snapshot.dimension == 0 or len(self) == 0:
            parse_filter(filter or {})
            return ()
        return self.dense_by_vectors(self.embed_query(query)[None], k=k, filters=filter)[0]

    def dense_by_vectors(
        self, vectors: npt.ArrayLike, *, k: int, filters: FilterLike | Sequence[FilterLike] = None
    ) -> list[tuple[Hit, ...]]:
        """`dense` for given query vectors (q, d): one filter for all, or a list of one for each.

        EmbeddingError for another dimension or NaN, ConfigError when filters and queries differ in number.
        """
        queries = check_queries(vectors, self._snapshot.dimension)
        each: list[FilterLike] = (
            list(filters) if isinstance(filters, list | tuple) else [cast(FilterLike, filters)] * len(queries)
        )
        if len(each) != len(queries):
            raise ConfigError(f"filters: {len(each)} filters for {len(queries)} queries; give one for all, or one each")
        return self._reading(lambda: self._snapshot.dense(queries, k=k, filters=each))

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
        if self._snapshot.dimension == 0 or len(self) == 0:
            return {}
        vector = self.embed_query(query)
        return self._reading(lambda: self._snapshot.dense_score(vector, chunk_ids))

    def vectors(self, ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """The chunks' vectors, (n, d); KeyError for an unknown id. A blank chunk has zeros."""
        result: npt.NDArray[np.float32] = self._snapshot.vectors(ids)
        return result

    def chunk_ids(self) -> list[str]:
        """All chunks, in order of id."""
        return self._snapshot.chunk_ids()

    def chunks_of(self, doc_id: str) -> list[Document]:
        """The chunks of a document, in order of their place; none for an unknown one."""
        return self._reading(lambda: self._snapshot.chunks_of(doc_id))

    def documents(self) -> list[tuple[str, str, str]]:
        """(doc_id, source, fingerprint) of every document, in order of source and id."""
        return self._snapshot.documents()

    def sources(self) -> dict[str, str]:
        """Each source with the id of its document (the first, when it has several)."""
        result: dict[str, str] = {}
        for doc_id, source, _ in self._snapshot.documents():
            result.setdefault(source, doc_id)
        return result

    def fields(self) -> dict[str, str]:
        """The metadata fields that filters can name, with the kinds of their values."""
        return self._snapshot.fields()

    def __len__(self) -> int:
        return self._snapshot.count

    def __bool__(self) -> bool:
        return True

    @property
    def settings(self) -> IndexSettings:
        """Analyzer, BM25 and dense settings in effect."""
        return self._settings

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
        except (IndexError, ValueError, UnicodeDecodeError, IndexDamagedError) as error:
            if isinstance(error, ConfigError):
                raise
            # A file that was changed shows in its checksum; anything else is our fault and passes untouched.
            check_contents(self.path, self._manifest)
            raise


_OWN = frozenset({"lock", "segments", "cache", NAME, f"{NAME}.new"})


def _listed(items: Iterable[str] | None, name: str) -> list[str]:
    if isinstance(items, str):
        raise ConfigError(f"{name}: expected a list of strings, found the string {items!r}")
    return list(items or ())


def read_generation(folder: Path) -> tuple[int, int]:
    """(generation, next segment) of the index that is about to be replaced; zeros when it cannot be read."""
    try:
        manifest = read_manifest(folder)
        return int(manifest["generation"]), int(manifest["next_segment"])
    except (IndexDamagedError, KeyError, ValueError):
        taken = [int(p.name) for p in (folder / "segments").glob("*") if p.name.isdigit()]
        return 0, max(taken, default=-1) + 1


def _load(folder: Path, settings: IndexSettings | None) -> tuple[dict[str, Any], Snapshot]:
    """Manifest and snapshot; tried again when a writer removes files between the two."""
    missing: FileNotFoundError | None = None
    for _ in range(_OPEN_TRIES):
        manifest = read_manifest(folder)
        own = check_settings(manifest, settings)
        try:
            check_sizes(folder, manifest)
            if sum(facts["size"] for facts in files_of(manifest).values()) <= _VERIFY_BELOW:
                check_contents(folder, manifest)
            return manifest, _open_snapshot(folder, manifest, own)
        except (FileNotFoundError, IndexDamagedError) as error:
            if read_manifest(folder)["generation"] == manifest["generation"]:
                if isinstance(error, IndexDamagedError):
                    raise
                missing = error
                break
    raise IndexDamagedError(
        f"a file of the index in {folder} is missing ({missing}); rebuild with `rag-app index --rebuild`"
    )


def _open_snapshot(folder: Path, manifest: Mapping[str, Any], settings: IndexSettings) -> Snapshot:
    dimension = int(manifest["embedder"]["dimension"]) if manifest["embedder"] else 0
    parts = []
    for entry in manifest["segments"]:
        segment = Segment(folder / "segments" / entry["name"], dimension)
        if entry["deleted"]:
            arrays, _ = read_arrays(segment.folder / entry["deleted"])
            parts.append(LiveSegment(segment, arrays["rows"], arrays["documents"]))
        else:
            parts.append(LiveSegment(segment))
    return Snapshot(parts, settings, dimension)


def check_queries(vectors: npt.ArrayLike, dimension: int) -> npt.NDArray[np.float32]:
    """Query vectors as (q, d) rows of unit length (zero rows stay); EmbeddingError for what cannot be compared."""
    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"the query vectors are no (q, {dimension}) matrix of numbers ({error})") from error
    if rows.size == 0 and rows.ndim < 2:
        return np.empty((0, dimension), dtype=np.float32)
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise EmbeddingError(f"query vectors of shape {rows.shape}; the index holds vectors of dimension {dimension}")
    if not np.isfinite(rows).all():
        raise EmbeddingError("a query vector holds NaN or infinity")
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0), dtype=np.float32)


def check_chunks(document: LoadedDocument, chunks: Sequence[Document]) -> None:
    """ConfigError when the document or a chunk has no id, an id stands twice, or a chunk is not the slice it says."""
    if not document.id:
        raise ConfigError(f"a document of {document.metadata.get('source')!r} has no id; loaders set it to its doc_id")
    seen: set[str] = set()
    for chunk in chunks:
        if not chunk.id or chunk.id in seen:
            raise ConfigError(
                f"document {document.id}: chunk id {chunk.id!r} is {'there twice' if chunk.id else 'missing'}"
            )
        seen.add(chunk.id)
        start, end = chunk.metadata.get("start_index"), chunk.metadata.get("end_index")
        if (
            isinstance(start, int)
            and isinstance(end, int)
            and chunk.metadata.get("doc_id") == document.id
            and document.page_content[start:end] != chunk.page_content
        ):
            raise ConfigError(f"chunk {chunk.id} is not characters {start} to {end} of its document")
