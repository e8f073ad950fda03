"""The one writer of an index: what is put in and taken out is gathered, then committed in one step."""

from __future__ import annotations

import contextlib
import gc
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_app.filters import Filter
from rag_app.index.local.build import StoredChunk, StoredDocument, merge_segments, write_segment
from rag_app.index.local.container import Array, write_arrays
from rag_app.index.local.identity import BuiltWith
from rag_app.index.local.manifest import describe, write_manifest
from rag_app.index.local.mapped import sync_file
from rag_app.index.local.opened import Opened
from rag_app.index.local.part import Part, Pending, open_part
from rag_app.index.local.records import document_line, source_of
from rag_app.index.local.segment import Segment
from rag_app.index.local.snapshot import Snapshot
from rag_app.index.local.state import LiveSegment

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.index.settings import IndexSettings

Vectors = Mapping[str, Array]
_SMALL = 1000


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """No garbage collection meanwhile: a segment is a million small things, none of them in a cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Writer:
    """Holds uncommitted changes. Files it writes are not part of the index before `commit` replaces the manifest."""

    def __init__(
        self,
        folder: Path,
        manifest: dict[str, Any],
        parts: Iterable[LiveSegment],
        settings: IndexSettings,
        *,
        dimension: int,
        embed: Callable[[Sequence[Document]], Vectors],
        clean: bool = True,
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.settings = settings
        self.dimension = dimension
        self.embed = embed
        self.dirty = False
        entries = {entry["name"]: entry for entry in manifest["segments"]}
        self.parts: list[Part] = []
        for part in parts:
            live = np.ones(part.segment.rows, dtype=bool) if part.live is None else part.live.copy()
            self.parts.append(Part(part.segment, entries[part.segment.name], live, part.live_documents.copy()))
        self._next = int(manifest["next_segment"])
        self._pending: dict[str, Pending] = {}
        self._owner: dict[str, str] = {}  # pending chunk -> document
        self._of_source: dict[str, list[str]] = {}
        self._size = 0
        if clean:
            self.clean_up()

    # ------------------------------------------------------------------------------------------------------- changes

    def put(self, pending: Pending, *, replace: str, keep: frozenset[str] = frozenset()) -> None:
        """Put in a document; what it replaces ("source": all documents of its source but `keep`; "id") goes."""
        doc_id = str(pending.document.id)
        self.remove_documents([doc_id])
        source = source_of(pending.document)
        if replace == "source":
            self.remove_source(source, keep=keep)
        for chunk in pending.chunks:
            # The usual ids begin with their document's, which is gone by now; others may stand anywhere.
            if not str(chunk.id).startswith(f"{doc_id}:"):
                self.remove_chunk(str(chunk.id))
            self._owner[str(chunk.id)] = doc_id
        self._pending[doc_id] = pending
        self._of_source.setdefault(source, []).append(doc_id)
        self._size += max(1, len(pending.chunks))
        self.dirty = True
        if self._size >= self.settings.flush_chunks:
            self.flush()

    def remove_source(self, source: str, *, keep: frozenset[str] = frozenset()) -> int:
        """Take out every document of a source but `keep`; the number of chunks."""
        removed = sum(self._drop(doc_id) for doc_id in list(self._of_source.get(source, ())) if doc_id not in keep)
        for part in self.parts:
            for number in part.segment.documents_of(source):
                if part.live_documents[number] and part.segment.doc_ids[number] not in keep:
                    removed += part.remove_document(number)
                    self.dirty = True
        return removed

    def remove_documents(self, doc_ids: Iterable[str]) -> int:
        """Take out documents by id; the number of chunks."""
        removed = 0
        for doc_id in doc_ids:
            removed += self._drop(doc_id)
            for part in self.parts:
                number = part.segment.doc_ids.find(doc_id)
                if number is not None and part.live_documents[number]:
                    removed += part.remove_document(number)
                    self.dirty = True
        return removed

    def remove_chunk(self, chunk_id: str) -> int:
        """Take out one chunk; its document goes with its last chunk."""
        owner = self._owner.pop(chunk_id, None)
        if owner is not None:
            waiting = self._pending[owner]
            waiting.chunks = [chunk for chunk in waiting.chunks if str(chunk.id) != chunk_id]
            if not waiting.chunks:
                self._drop(owner)
            return 1
        for part in self.parts:
            row = part.segment.ids.find(chunk_id)
            if row is not None and part.live[row]:
                self.dirty = True
                return part.remove_rows(np.asarray([row]))
        return 0

    def remove_matching(self, condition: Filter) -> int:
        """Take out the chunks that pass the filter."""
        self.flush()
        removed = sum(part.remove_rows(np.flatnonzero(part.segment.columns.mask(condition))) for part in self.parts)
        self.dirty = self.dirty or removed > 0
        return removed

    def _drop(self, doc_id: str) -> int:
        waiting = self._pending.pop(doc_id, None)
        if waiting is None:
            return 0
        source = source_of(waiting.document)
        self._of_source[source].remove(doc_id)
        for chunk in waiting.chunks:
            self._owner.pop(str(chunk.id), None)
        self._size -= max(1, len(waiting.chunks))
        return len(waiting.chunks)

    # -------------------------------------------------------------------------------------------------------- writing

    def flush(self) -> None:
        """Write what waits as a segment, not yet part of the index; missing vectors are made first."""
        if not self._pending:
            return
        waiting = list(self._pending.values())
        missing = [chunk for p in waiting for chunk in p.chunks if str(chunk.id) not in p.vectors]
        made = self.embed(missing)
        with without_collection():
            self._write(waiting, made)
        self._pending.clear()
        self._owner.clear()
        self._of_source.clear()
        self._size = 0

    def _write(self, waiting: Sequence[Pending], made: Vectors) -> None:
        documents, chunks = [], []
        for p in waiting:
            doc_id = str(p.document.id)
            language = self.settings.analyzer.detect(p.document.page_content)
            line = partial(document_line, p.document, p.fingerprint)
            documents.append(StoredDocument(doc_id, source_of(p.document), p.fingerprint, language, line))
            for chunk in p.chunks:
                vector = p.vectors.get(str(chunk.id), made.get(str(chunk.id)))
                chunks.append(StoredChunk(chunk, doc_id, vector))
        folder = self._new_folder()
        entry = write_segment(
            folder,
            documents,
            chunks,
            dimension=self.dimension,
            dense=self.settings.dense,
            analyzer=self.settings.analyzer,
        )
        self._take_in(folder, entry)

    def _new_folder(self) -> Path:
        folder = self.folder / "segments" / f"{self._next:08d}"
        self._next += 1
        if folder.exists():  # a killed writer's
            shutil.rmtree(folder)
        return folder

    def _take_in(self, folder: Path, entry: dict[str, Any]) -> None:
        segment = Segment(folder, self.dimension)
        self.parts.append(Part(segment, entry, np.ones(segment.rows, bool), np.ones(len(segment.doc_ids), bool)))

    def merge(self, *, everything: bool = False) -> None:
        """Merge segments of about one size where there are too many, and rewrite those that are mostly dead."""
        self.flush()
        while group := list(self.parts) if everything else self._crowd():
            if everything and len(group) == 1 and group[0].live.all() and group[0].live_documents.all():
                return
            folder = self._new_folder()
            kept = [part for part in self.parts if part not in group]
            entry = merge_segments(
                folder,
                [(p.segment, p.live, p.live_documents) for p in group],
                dimension=self.dimension,
                dense=self.settings.dense,
            )
            self.parts = kept
            self._take_in(folder, entry)
            self.dirty = True
            if everything:
                return

    def _crowd(self) -> list[Part]:
        """The segments to merge next; none when their number is in order."""
        tiers: dict[int, list[Part]] = {}
        for part in self.parts:
            size = int(np.count_nonzero(part.live)) + int(np.count_nonzero(part.live_documents))
            if size * 2 < part.segment.rows + len(part.segment.doc_ids):
                return [part]
            tier = int(math.log(max(size / _SMALL, 1), self.settings.segments_per_tier))
            tiers.setdefault(tier, []).append(part)
        full = [group for _, group in sorted(tiers.items()) if len(group) >= self.settings.segments_per_tier]
        return full[0] if full else []

    def commit(self, changes: Mapping[str, Any]) -> tuple[dict[str, Any], Opened]:
        """Make everything durable and visible; the new manifest and what readers see from now on."""
        self.flush()
        self.parts = [part for part in self.parts if part.live_documents.any() or part.live.any()]
        self.merge()
        generation = int(self.manifest["generation"]) + 1
        for part in self.parts:
            if part.changed:
                self._write_tombstones(part, generation)
        manifest = {
            **self.manifest,
            **changes,
            "generation": generation,
            "next_segment": self._next,
            "segments": [part.entry for part in self.parts],
            "counts": {
                "documents": sum(int(np.count_nonzero(part.live_documents)) for part in self.parts),
                "chunks": sum(int(np.count_nonzero(part.live)) for part in self.parts),
            },
        }
        if (self.folder / "segments").exists():
            sync_file(self.folder / "segments")
        write_manifest(self.folder, manifest)
        self.manifest = manifest
        self.dirty = False
        self.clean_up()
        built_with = BuiltWith(self.settings)
        snapshot = Snapshot([open_part(p) for p in self.parts], built_with, self.dimension)
        return manifest, Opened(self.folder, manifest, built_with, snapshot)

    def _write_tombstones(self, part: Part, generation: int) -> None:
        name = f"deleted-{generation}.bin"
        path = part.segment.folder / name
        arrays = {
            "rows": np.flatnonzero(~part.live).astype(np.int32),
            "documents": np.flatnonzero(~part.live_documents).astype(np.int32),
        }
        write_arrays(path, arrays, {})
        sync_file(path)
        files = {key: facts for key, facts in part.entry["files"].items() if key != part.entry["deleted"]}
        part.entry = {**part.entry, "deleted": name, "files": {**files, name: describe(path)}}
        part.changed = False

    def clean_up(self) -> None:
        """Remove files that the manifest does not name: those of a killed writer, and those that were replaced."""
        named = {entry["name"]: entry["files"] for entry in self.manifest["segments"]}
        segments = self.folder / "segments"
        for folder in sorted(segments.iterdir()) if segments.exists() else []:
            if folder.name not in named:
                shutil.rmtree(folder, ignore_errors=True)
                continue
            for file in folder.iterdir():
                if file.name not in named[folder.name]:
                    file.unlink(missing_ok=True)
