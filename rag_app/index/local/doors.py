"""What is checked where things come into the index: its files, chunks, lists of names."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_app.errors import ConfigError, IndexDamagedError
from rag_app.index.local.identity import BuiltWith, check_settings
from rag_app.index.local.manifest import NAME, check_contents, check_sizes, files_of, read_manifest
from rag_app.index.local.opened import Opened

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

    from rag_app.embed import Embedder
    from rag_app.index.settings import IndexSettings
    from rag_app.types import LoadedDocument

# Up to this size all checksums are verified on opening: about 10 ms.
_VERIFY_BELOW = 16 << 20
_OPEN_TRIES = 20
OWN = frozenset({"lock", "segments", "cache", NAME, f"{NAME}.new"})


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The folder as a path; ConfigError for what is none, such as an embedder in its place."""
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"expected the folder of an index, found a {type(path).__name__}")
    return Path(path)


def own_embedder(embedder: Embeddings | None) -> Embedder | None:
    """The embedder as one of ours; None when there is none."""
    if embedder is None:
        return None
    from rag_app.embed import as_embedder

    return as_embedder(embedder)


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


def load(folder: Path, settings: IndexSettings | None) -> tuple[dict[str, Any], Opened]:
    """The manifest, and the state that it names; tried again when a writer removes files between the two."""
    missing: FileNotFoundError | None = None
    for _ in range(_OPEN_TRIES):
        manifest = read_manifest(folder)
        own = manifest["settings"] if settings is None else check_settings(manifest, settings)
        try:
            check_sizes(folder, manifest)
            if sum(facts["size"] for facts in files_of(manifest).values()) <= _VERIFY_BELOW:
                check_contents(folder, manifest)
            return manifest, Opened(folder, manifest, BuiltWith(own))
        except (FileNotFoundError, IndexDamagedError) as error:
            if read_manifest(folder)["generation"] == manifest["generation"]:
                if isinstance(error, IndexDamagedError):
                    raise
                missing = error
                break
    raise IndexDamagedError(
        f"a file of the index in {folder} is missing ({missing}); rebuild with `rag-app index --rebuild`"
    )


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
