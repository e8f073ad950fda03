"""Documents into an index: split, embed, put in; what has not changed is left alone, what vanished can go."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document
from pydantic import BaseModel

from rag_app.embed import overlong
from rag_app.index import LocalIndex
from rag_app.index.local.records import fingerprint_of, source_of, text_to_index
from rag_app.ingest.checks import check_index
from rag_app.ingest.report import IngestReport
from rag_app.load import text_digest
from rag_app.split.base import OversizedChunkWarning, SpanSplitter
from rag_app.split.checkpoints import CheckpointCollector
from rag_app.text.instructions import instruction_spans
from rag_app.types import LoadedDocument, LoadFailure

Progress = Callable[[int, int, str], None]

_SHOWN = 80  # characters of an instruction that its warning shows


@dataclass
class _Counts:
    added: int = 0
    updated: int = 0
    deleted: int = 0
    skipped: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class _Waiting:
    document: LoadedDocument
    chunks: list[Document]
    fingerprint: str
    is_new: bool


def splitter_settings(splitter: BaseDocumentTransformer) -> dict[str, Any]:
    """The splitter's settings for the manifest: its fields, or its class where it has none."""
    if isinstance(splitter, BaseModel):
        return splitter.model_dump(mode="json")
    return {"kind": type(splitter).__name__}


def ingest(
    index: LocalIndex,
    loaded: Iterable[LoadedDocument | LoadFailure],
    splitter: BaseDocumentTransformer,
    *,
    sync: bool = False,
    dry_run: bool = False,
    batch_chunks: int = 2000,
    test: bool = True,
    progress: Progress | None = None,
) -> IngestReport:
    """Put documents into the index, each in place of what stood under its source.

    A document whose text, metadata, layout and splitter are as before is skipped. Every `batch_chunks` chunks are
    committed, so an ingest that is stopped goes on where it was. `sync` takes out sources that did not come (one that
    failed to load stays as it was). `dry_run` only counts. A document whose chunks cannot be embedded is in `failed`.
    """
    started = time.perf_counter()
    run = _Run(index, splitter, dry_run=dry_run, progress=progress)
    waiting: list[_Waiting] = []
    for item in loaded:
        if isinstance(item, LoadFailure):
            run.fail(item.source, item.reason)
            continue
        ready = run.prepare(item)
        if ready is not None:
            waiting.append(ready)
        if sum(len(w.chunks) for w in waiting) >= batch_chunks:
            run.put(waiting)
            waiting = []
    run.put(waiting)
    run.remove_leftovers(sync=sync)
    if not dry_run:
        index.set_splitter(run.splitter_settings)
        index.commit()
        index.prune_cache(only_when_large=True)
    changed = run.counts.added + run.counts.updated + run.counts.deleted > 0
    tested, faults, recall = check_index(index) if test and changed and not dry_run else (0, [], None)
    measured = run.checkpoints.report() if run.measures else None
    counts = run.counts
    return IngestReport(
        documents=index.manifest["counts"]["documents"],
        chunks=len(index),
        added=counts.added,
        updated=counts.updated,
        deleted=counts.deleted,
        skipped=counts.skipped,
        failed=tuple(counts.failed),
        seconds=time.perf_counter() - started,
        warnings=(*counts.warnings, *(measured.warnings if measured else ()), *faults),
        equal=tuple(tuple(sources) for sources in run.sources_of_text.values() if len(sources) > 1),
        tested=tested,
        checkpoints=measured,
        dense_recall=recall,
        dry_run=dry_run,
    )


def remove(index: LocalIndex, sources: Sequence[str], *, dry_run: bool = False) -> IngestReport:
    """Take out all documents of the sources; a source that the index does not have is in `failed`."""
    started = time.perf_counter()
    known: dict[str, int] = {}
    for _, source, _ in index.documents():
        known[source] = known.get(source, 0) + 1
    found = [source for source in dict.fromkeys(sources) if source in known]
    if found and not dry_run:
        index.delete(sources=found)
        index.commit()
    return IngestReport(
        documents=index.manifest["counts"]["documents"],
        chunks=len(index),
        added=0,
        updated=0,
        deleted=sum(known[source] for source in found),
        skipped=0,
        failed=tuple(
            {"source": source, "reason": "the index has no such source"} for source in sources if source not in known
        ),
        seconds=time.perf_counter() - started,
        dry_run=dry_run,
    )


class _Run:
    """One ingest: what the index holds, what has come so far, and the counts."""

    def __init__(
        self, index: LocalIndex, splitter: BaseDocumentTransformer, *, dry_run: bool, progress: Progress | None
    ) -> None:
        self.index = index
        self.splitter = splitter
        self.splitter_settings = splitter_settings(splitter)
        self.dry_run = dry_run
        self.progress = progress
        self.counts = _Counts()
        self.before: dict[str, dict[str, str]] = {}  # source -> doc_id -> fingerprint
        for doc_id, source, fingerprint in index.documents():
            self.before.setdefault(source, {})[doc_id] = fingerprint
        self.seen: dict[str, list[str]] = {}
        self.failed_sources: set[str] = set()
        self.sources_of_text: defaultdict[bytes, list[str]] = defaultdict(list)
        self.done = 0
        self.measures = isinstance(splitter, SpanSplitter) and not dry_run
        self.checkpoints = CheckpointCollector()

    def fail(self, source: str, reason: str) -> None:
        """Count a failure."""
        self.failed_sources.add(source)
        self.counts.failed.append({"source": source, "reason": reason})

    def prepare(self, document: LoadedDocument) -> _Waiting | None:
        """The document with its chunks; None when it stands in the index already."""
        source, doc_id = source_of(document), str(document.id)
        fingerprint = fingerprint_of(document, self.splitter_settings)
        repeated = doc_id in self.seen.setdefault(source, [])
        self.seen[source].append(doc_id)
        self.done += 1
        if self.progress:
            self.progress(self.done, 0, "documents")
        if not repeated:
            self.sources_of_text[text_digest(document)].append(source)
        if repeated or self.before.get(source, {}).get(doc_id) == fingerprint:
            self.counts.skipped += 1
            return None
        self._warn_instructions(document, source)
        chunks = [] if self.dry_run else self._split(document)
        is_new = len(self.seen[source]) > len(self.before.get(source, {}))
        return _Waiting(document, chunks, fingerprint, is_new)

    def _split(self, document: LoadedDocument) -> list[Document]:
        with warnings.catch_warnings():
            # The report names every chunk that is too long; once is enough.
            warnings.simplefilter("ignore", OversizedChunkWarning)
            chunks = list(self.splitter.transform_documents([document]))
        if isinstance(self.splitter, SpanSplitter):
            self.checkpoints.add(document, chunks, self.splitter)
        return chunks

    def put(self, waiting: Sequence[_Waiting]) -> None:
        """Embed and put in what waits, and commit; documents whose chunks have no vector fail."""
        if self.dry_run or not waiting:
            self._count(waiting)
            return
        chunks = [chunk for w in waiting for chunk in w.chunks]
        vectors, reasons = self.index.embed_chunks(chunks, progress=self.progress)
        self._warn_overlong(chunks)
        good: list[_Waiting] = []
        for w in waiting:
            faults = [(str(c.id), reasons[str(c.id)]) for c in w.chunks if str(c.id) in reasons]
            if faults:
                source = source_of(w.document)
                self.fail(
                    source, f"no vector for chunk {faults[0][0]}: {faults[0][1]} ({len(faults)} of {len(w.chunks)})"
                )
                continue
            own = {str(c.id): vectors[str(c.id)] for c in w.chunks if str(c.id) in vectors}
            keep = self.seen[source_of(w.document)]
            self.index.upsert(w.document, w.chunks, vectors=own, fingerprint=w.fingerprint, keep=keep)
            good.append(w)
        self._count(good)
        self.index.commit()

    def _count(self, waiting: Sequence[_Waiting]) -> None:
        new = sum(w.is_new for w in waiting)
        self.counts.added += new
        self.counts.updated += len(waiting) - new

    def _warn_overlong(self, chunks: Sequence[Document]) -> None:
        if self.index.manifest["embedder"]:
            texts, ids = [text_to_index(c) for c in chunks], [str(c.id) for c in chunks]
            allowed = int(getattr(self.splitter, "allowed_tokens", 0))
            self.counts.warnings += overlong(self.index.embedder, texts, ids, allowed=allowed)

    def _warn_instructions(self, document: LoadedDocument, source: str) -> None:
        """Name a document that talks to a language model: it is indexed as it is, and its words are no order."""
        found = instruction_spans(document.page_content)
        if found:
            words = " ".join(found[0].slice(document.page_content).split())
            start = words if len(words) <= _SHOWN else words[:_SHOWN].rstrip() + "..."
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            self.counts.warnings.append(
                f"{source} has text that reads as an instruction to a model, at {found[0].start}{more}: {start!r}"
            )

    def _failed(self, source: str) -> bool:
        """Whether the source could not be read this time: itself, the mail it is attached to, or a folder above it."""
        return any(
            failed in (source, ".") or source.startswith((f"{failed}#", f"{failed}/")) for failed in self.failed_sources
        )

    def remove_leftovers(self, *, sync: bool) -> None:
        """Take out documents that their sources no longer have, and with `sync` sources that did not come."""
        for source, documents in self.before.items():
            if self._failed(source) or (source not in self.seen and not sync):
                continue
            left = [doc_id for doc_id in documents if doc_id not in self.seen.get(source, ())]
            if source not in self.seen:
                self.counts.deleted += len(left)
            if left and not self.dry_run:
                self.index.delete(ids=left)
