"""The local index: a folder of immutable segments under one manifest. One writer, any number of readers."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rag_app.errors import ConfigError, IndexLockedError
from rag_app.index.local.doors import OWN, check_chunks, folder_of, listed, load, own_embedder, read_generation
from rag_app.index.local.embedding import IndexEmbedding, Progress
from rag_app.index.local.identity import BuiltWith, canaries_of, check_embedder, identity
from rag_app.index.local.manifest import FORMAT, NAME, read_manifest
from rag_app.index.local.opened import Opened

if TYPE_CHECKING:
    from filelock import FileLock
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

    from rag_app.embed import Embedder
    from rag_app.index.base import FilterLike
    from rag_app.index.local.container import Array
    from rag_app.index.local.writer import Writer
    from rag_app.index.settings import IndexSettings
    from rag_app.types import LoadedDocument


class LocalIndex(IndexEmbedding):
    """BM25 and vectors over chunks, with their documents, in a folder.

    `with LocalIndex.create(path, embedder=...) as index:` commits at the end; an exception leaves the index as it was
    at the last commit. Readers see whole commits only; `refresh` takes up those of other processes.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], opened: Opened, embedder: Embedder | None) -> None:
        super().__init__(path, manifest, opened, embedder)
        self._lock: FileLock | None = None
        self._notes: dict[str, Any] | None = None
        self._changes: dict[str, Any] = {}

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
        from rag_app.index.settings import IndexSettings

        folder = folder_of(path)
        settings = settings or IndexSettings()
        if (folder / NAME).exists() and not overwrite:
            raise ConfigError(f"there is an index in {folder} already; open it, or overwrite it with `--rebuild`")
        if not (folder / NAME).exists() and folder.is_dir() and any(p.name not in OWN for p in folder.iterdir()):
            raise ConfigError(f"{folder} is not empty and holds no index; name a new folder for it")
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder} is a file, and an index is a folder; name another place for it")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"the folder {folder} cannot be made ({error}); name another one") from error
        own = own_embedder(embedder)
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
        index = cls(folder, manifest, Opened(folder, manifest, BuiltWith(settings)), own)
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
        folder = folder_of(path)
        own = own_embedder(embedder)
        manifest, opened = load(folder, settings)
        if own is not None:
            check_embedder(manifest, own)
        return cls(folder, manifest, opened, own)

    @classmethod
    def open_or_create(
        cls, path: str | Path, *, embedder: Embeddings | None, settings: IndexSettings | None = None
    ) -> LocalIndex:
        """The index in `path`, made when it is not there."""
        if (folder_of(path) / NAME).exists():
            return cls.open(path, embedder=embedder, settings=settings)
        return cls.create(path, embedder=embedder, settings=settings)

    @staticmethod
    def exists(path: str | Path) -> bool:
        """Whether there is an index in `path`, sound or not."""
        return (folder_of(path) / NAME).exists()

    def refresh(self) -> bool:
        """Take up what other processes committed since; whether there was something."""
        with self._mutex:
            if self._writer is not None:
                return False
            if read_manifest(self.path)["generation"] == self._manifest["generation"]:
                return False
            self._take_up(*load(self.path, self.settings))
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

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Several changes and their commit as one: other threads wait, an exception leaves the last commit."""
        with self._mutex:
            try:
                yield
                self.commit()
            except BaseException:
                self.close()
                raise

    # --------------------------------------------------------------------------------------------------------- writing

    def _begin(self, *, fresh: dict[str, Any] | None = None) -> Writer:
        if self._writer is not None:
            return self._writer
        from filelock import FileLock, Timeout

        from rag_app.index.local.writer import Writer

        lock = self._lock = self._lock or FileLock(self.path / "lock", thread_local=False)
        try:
            lock.acquire(timeout=self.settings.lock_timeout)
        except Timeout:
            raise IndexLockedError(
                f"another writer holds the index in {self.path} (waited {self.settings.lock_timeout:g} s); "
                "try again when it is done"
            ) from None
        except OSError as error:
            raise ConfigError(f"the index in {self.path} cannot be written ({error})") from error
        try:
            if fresh is None:
                if not self._lock_is_current():
                    self._take_up(*load(self.path, self.settings))
            elif (self.path / NAME).exists():
                old = read_generation(self.path)
                fresh["generation"], fresh["next_segment"] = old
                self._manifest = fresh
            self._writer = Writer(
                self.path,
                self._manifest,
                self._snapshot.segments,
                self.settings,
                dimension=self._opened.dimension,
                embed=self._embed_or_raise,
                clean=fresh is None,
            )
        except BaseException:
            lock.release()
            raise
        return self._writer

    def _lock_is_current(self) -> bool:
        return bool(read_manifest(self.path)["generation"] == self._manifest["generation"])

    def _end(self) -> None:
        self._writer = None
        self._notes = None
        self._changes = {}
        if self._lock is not None and self._lock.is_locked:
            self._lock.release()

    def upsert(
        self,
        document: LoadedDocument,
        chunks: Sequence[Document],
        *,
        vectors: Mapping[str, Array | None] | None = None,
        fingerprint: str | None = None,
        replace: str = "source",
        keep: Iterable[str] = (),
    ) -> None:
        """Put in a document with its chunks, in place of what was there under its source (or, by "id", its id only).

        `vectors` by chunk id may have any length but 0; what is not given is made at the next commit. `keep` names
        documents of the same source that stay.
        """
        from rag_app.index.local.part import Pending
        from rag_app.index.local.records import fingerprint_of
        from rag_app.index.local.vectors import unit_vectors

        check_chunks(document, chunks)
        with self._mutex:
            given = unit_vectors(vectors, self._opened.dimension)
            pending = Pending(document, list(chunks), fingerprint or fingerprint_of(document), given)
            self._begin().put(pending, replace=replace, keep=frozenset(keep))

    def add(self, batch: Iterable[tuple[LoadedDocument, Sequence[Document]]]) -> None:
        """`upsert` for each pair."""
        for document, chunks in batch:
            self.upsert(document, chunks)

    def delete(
        self, sources: Iterable[str] | None = None, ids: Iterable[str] | None = None, filter: FilterLike = None
    ) -> int:
        """Take out chunks by source, by chunk or document id, or by filter; the number of chunks taken out."""
        from rag_app.filters import parse_filter

        condition = None if filter is None else parse_filter(filter)
        with self._mutex:
            writer = self._begin()
            removed = sum(writer.remove_source(source) for source in listed(sources, "sources"))
            for item in listed(ids, "ids"):
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
                self._manifest, self._opened = self._writer.commit(changes)
            self._end()

    def merge(self) -> None:
        """Put all segments into one and drop what is dead, kept vectors included. Results stay as they are."""
        with self._mutex:
            self._begin().merge(everything=True)
            self.commit()
            self.prune_cache()

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
