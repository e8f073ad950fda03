"""What is checked where things come into the index: its files, chunks, query vectors, lists of names."""

from __future__ import annotations

import contextlib
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rag_app.errors import ConfigError, EmbeddingError, IndexDamagedError
from rag_app.index.local.container import Array, read_arrays
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
# Rows whose length is as near to 1 are left as they are, to the last bit.
_UNIT = 1e-4
OWN = frozenset({"lock", "segments", "cache", NAME, f"{NAME}.new"})


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The folder as a path; ConfigError for what is none, such as an embedder in its place."""
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"expected the folder of an index, found a {type(path).__name__}")
    return Path(path)


def listed(items: Iterable[str] | None, name: str) -> list[str]:
    """The items as a list; ConfigError for what holds anything but strings, or is one."""
    if isinstance(items, str):
        raise ConfigError(f"{name}: expected a list of strings, found the string {items!r}")
    result = list(items or ())
    wrong = next((item for item in result if not isinstance(item, str)), None)
    if wrong is not None:
        raise ConfigError(f"{name}: expected strings, found {wrong!r} ({type(wrong).__name__})")
    return result


def query_text(query: str) -> str:
    """The query; ConfigError for what is no text."""
    if not isinstance(query, str):
        raise ConfigError(f"query: expected text, found {query!r:.60} ({type(query).__name__})")
    return query


def count_of(k: int) -> int:
    """How many hits are asked for; ConfigError for what is no whole number."""
    try:
        return operator.index(k)
    except TypeError:
        raise ConfigError(f"k: expected a whole number, found {k!r} ({type(k).__name__})") from None


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
        rows = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"the query vectors are no (q, {dimension}) matrix of numbers ({error})") from error
    if rows.size == 0 and rows.ndim < 2:
        return np.empty((0, dimension), dtype=np.float32)
    if dimension == 0:
        raise EmbeddingError("the index has no vectors; build it with an embedder to search by vectors")
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise EmbeddingError(f"query vectors of shape {rows.shape}; the index holds vectors of dimension {dimension}")
    if not np.isfinite(rows).all():
        raise EmbeddingError("a query vector holds NaN or infinity")
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    # The squares of very large or small numbers would be lost.
    rows = rows / np.where((largest > 1e100) | ((largest > 0) & (largest < 1e-100)), largest, 1.0)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0), dtype=np.float32)


def unit_vectors(vectors: Mapping[str, Array | None] | None, dimension: int) -> dict[str, Array | None]:
    """Given vectors by chunk id, of unit length; EmbeddingError names the chunks whose vector cannot be compared.

    Arrays of single precision that have unit length are handed on, not copied.
    """
    there = {chunk_id: vector for chunk_id, vector in (vectors or {}).items() if vector is not None}
    if not there or dimension == 0:
        return dict.fromkeys(vectors or {}) if dimension else {}
    from rag_app.embed.checks import check_vectors

    given: Any = list(there.values())
    with contextlib.suppress(TypeError, ValueError):  # of different sizes, or no numbers: the check says which
        given = np.asarray(given, dtype=np.float32)
    if _are_units(given, dimension) and all(getattr(vector, "dtype", None) == np.float32 for vector in there.values()):
        return dict(vectors or {})
    rows = check_vectors(given, list(there), dimension=dimension)
    norms = np.linalg.norm(rows.astype(np.float64), axis=1)
    off = np.abs(norms - 1) > _UNIT
    rows[off] = rows[off] / norms[off, None]
    return {**dict.fromkeys(vectors or {}), **dict(zip(there, rows, strict=True))}


def _are_units(rows: Any, dimension: int) -> bool:
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[1] != dimension:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(np.vecdot(rows, rows) - 1) < _UNIT).all())


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
