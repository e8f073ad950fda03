"""All vectors anew, and the index tested as after an ingest."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from langchain_core.embeddings import Embeddings

from rag_app.index import LocalIndex
from rag_app.index.reembed import reembed_index
from rag_app.ingest.checks import check_index
from rag_app.ingest.report import IngestReport


def reembed(
    directory: str | Path, embedder: Embeddings, *, progress: Callable[[int, int, str], None] | None = None
) -> tuple[LocalIndex, IngestReport]:
    """The index with vectors of `embedder`, and what was found when both rankings were asked; no document changes."""
    started = time.perf_counter()
    index = reembed_index(directory, embedder, progress=progress)
    tested, faults, recall = check_index(index)
    report = IngestReport(
        documents=index.manifest["counts"]["documents"],
        chunks=len(index),
        added=0,
        updated=0,
        deleted=0,
        skipped=0,
        seconds=time.perf_counter() - started,
        warnings=tuple(faults),
        tested=tested,
        dense_recall=recall,
    )
    return index, report
