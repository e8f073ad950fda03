"""What is checked where things come into the index: its files, chunks, query vectors, lists of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rag_app.errors import ConfigError, EmbeddingError, IndexDamagedError
from rag_app.index.local.container import read_arrays
from rag_app.index.local.identity import check_settings
from rag_app.index.local.manifest import NAME, check_contents, check_sizes, files_of, read_manifest
from rag_app.index.local.segment import Segment
from rag_app.index.local.snapshot import Snapshot
from rag_app.index.local.state import BuiltWith, LiveSegment

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.index.settings import IndexSettings
    from rag_app.types import LoadedDocument

# Up to this size all checksums are verified on opening: about 10 ms.
_VERIFY_BELOW = 16 << 20
_OPEN_TRIES = 20
OWN = frozenset({"lock", "segments", "cache", NAME, f"{NAME}.new"})


def listed(items: Iterable[str] | None, name: str) -> list[str]:
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


def load(folder: Path, settings: IndexSettings | None) -> tuple[dict[str, Any], Snapshot]:
    """Manifest and snapshot; tried again when a writer removes files between the two."""
    missing: FileNotFoundError | None = None
    for _ in range(_OPEN_TRIES):
        manifest = read_manifest(folder)
        own = manifest["settings"] if settings is None else check_settings(manifest, settings)
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


def _open_snapshot(folder: Path, manifest: Mapping[str, Any], settings: BuiltWith) -> Snapshot:
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
