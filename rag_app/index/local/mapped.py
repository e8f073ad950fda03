"""The files of an index, memory-mapped. Opening takes no more than this; numpy makes arrays of them later."""

from __future__ import annotations

import json
import mmap
import os
from pathlib import Path
from typing import Any

from rag_app.errors import IndexDamagedError

MAGIC = b"ragapp1\n"
ARRAYS, CHUNKS, DOCUMENTS, VECTORS = "arrays.bin", "chunks.jsonl", "documents.jsonl", "vectors.f32"

Mapped = mmap.mmap | bytes


def sync_file(path: Path) -> None:
    """Wait until the file's (or folder's) content is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def map_file(path: Path) -> Mapped:
    """The file's bytes, to be read only; they stay readable when the file is removed."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return b""  # which cannot be mapped
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class Container:
    """A file of arrays: `meta` is its JSON object, `places` has type, shape and offset from `start` of each array.

    IndexDamagedError names a file that is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.raw = map_file(path)
        try:
            if self.raw[:8] != MAGIC:
                raise ValueError("wrong first bytes")
            self.start = 16 + int.from_bytes(self.raw[8:16], "little")
            header = json.loads(self.raw[16 : self.start])
            self.meta: dict[str, Any] = header["meta"]
            self.places: dict[str, tuple[str, list[int], int]] = header["arrays"]
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise IndexDamagedError(f"{path} is damaged ({error}); rebuild with `rag-app index --rebuild`") from error


class SegmentFiles:
    """The files of a segment, all mapped at once, so that a merge may remove them meanwhile."""

    def __init__(self, folder: Path, deleted: str | None = None) -> None:
        self.folder = folder
        self.arrays = Container(folder / ARRAYS)
        self.chunks = map_file(folder / CHUNKS)
        self.documents = map_file(folder / DOCUMENTS)
        self.vectors = map_file(folder / VECTORS)
        self.deleted = Container(folder / deleted) if deleted else None
