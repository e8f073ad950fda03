"""Numpy arrays in one file, memory-mapped on reading; string tables and lines of JSON by offset. No pickle."""

from __future__ import annotations

import bisect
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_app.errors import IndexDamagedError
from rag_app.index.local.mapped import MAGIC, Container, Mapped

Array = npt.NDArray[Any]
_ALIGN = 64


def write_arrays(path: Path, arrays: Mapping[str, Array], meta: Mapping[str, Any]) -> None:
    """Write arrays and a JSON object into one file: magic, header length, header, then each array at 64 bytes."""
    places: dict[str, tuple[str, list[int], int]] = {}
    offset = 0
    for name, array in arrays.items():
        places[name] = (array.dtype.str, list(array.shape), offset)
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    header = json.dumps({"meta": meta, "arrays": places}, ensure_ascii=True).encode()
    header += b" " * (-(len(header) + 16) % _ALIGN)
    with path.open("wb") as out:
        out.write(MAGIC + len(header).to_bytes(8, "little") + header)
        for array in arrays.values():
            out.write(np.ascontiguousarray(array).data if array.size else b"")
            out.write(b"\0" * (-array.nbytes % _ALIGN))


def array_of(raw: Mapped) -> Array:
    """Mapped bytes as an array; it holds on to them."""
    return np.frombuffer(raw, dtype=np.uint8)


def arrays_of(container: Container) -> dict[str, Array]:
    """The arrays of a file, read-only; IndexDamagedError names a file that does not hold what its header says."""
    raw = array_of(container.raw)
    try:
        arrays = {}
        for name, (dtype, shape, offset) in container.places.items():
            kind = np.dtype(dtype)
            count = int(np.prod(shape, dtype=np.int64))
            start = container.start + offset
            piece = raw[start : start + count * kind.itemsize]
            if len(piece) != count * kind.itemsize:
                raise ValueError(f"array {name} is cut")
            arrays[name] = piece.view(kind).reshape(shape)
        return arrays
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise IndexDamagedError(
            f"{container.path} is damaged ({error}); rebuild with `rag-app index --rebuild`"
        ) from error


def encode(text: str) -> bytes:
    """UTF-8; lone surrogates are kept, so that any Python string comes back as it was."""
    return text.encode("utf-8", "surrogatepass")


def pack(items: Sequence[bytes]) -> tuple[Array, Array]:
    """(bytes joined, offsets): item i is bytes[offsets[i]:offsets[i + 1]]."""
    offsets = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, items), dtype=np.int64, count=len(items)), out=offsets[1:])
    return np.frombuffer(b"".join(items), dtype=np.uint8), offsets


def prefixes_of(items: Sequence[bytes]) -> Array:
    """The first eight bytes of each item as a number: ordered as the items are, searched many times faster."""
    joined = b"".join(item[:8].ljust(8, b"\0") for item in items)
    return np.frombuffer(joined, dtype=">u8").astype(np.uint64)


class Strings:
    """A table of strings that are read one at a time; `find` needs them in order of their bytes."""

    def __init__(self, blob: Array, offsets: Array, prefixes: Array | None = None) -> None:
        # Single items of a memoryview are read several times as fast as those of an array.
        self._blob = memoryview(blob.data)
        self._offsets = memoryview(offsets.data)
        self._prefixes = prefixes

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def raw(self, i: int) -> bytes:
        """Item i as bytes."""
        return bytes(self._blob[self._offsets[i] : self._offsets[i + 1]])

    def __getitem__(self, i: int) -> str:
        return self.raw(i).decode("utf-8", "surrogatepass")

    def all(self) -> list[str]:
        """Every item."""
        blob, offsets = bytes(self._blob), self._offsets.tolist()
        return [blob[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(offsets)]

    def first_at_least(self, key: bytes) -> int:
        """The place of the first item that is not before `key`."""
        low, high = 0, len(self)
        if self._prefixes is not None:
            number = np.uint64(int.from_bytes(key[:8].ljust(8, b"\0"), "big"))
            low = int(self._prefixes.searchsorted(number, side="left"))
            if low == high or self._prefixes[low] != number:
                return low
            high = int(self._prefixes.searchsorted(number, side="right"))
        return low + bisect.bisect_left(range(low, high), key, key=self.raw)

    def find(self, item: str) -> int | None:
        """The place of `item`; None when it is not there."""
        key = encode(item)
        place = self.first_at_least(key)
        return place if place < len(self) and self.raw(place) == key else None


class Lines:
    """JSON objects, one a line, read by number from a memory-mapped file."""

    def __init__(self, path: Path, raw: Mapped, offsets: Array) -> None:
        self._path = path
        self._strings = Strings(array_of(raw), offsets)

    def raw(self, i: int) -> bytes:
        """Line i as bytes."""
        return self._strings.raw(i)

    def __getitem__(self, i: int) -> dict[str, Any]:
        try:
            value: dict[str, Any] = json.loads(self._strings[i])
        except ValueError as error:
            raise IndexDamagedError(f"{self._path}, line {i + 1}, is damaged; rebuild with --rebuild") from error
        return value


def write_lines(path: Path, lines: Iterable[bytes]) -> Array:
    """Write lines (each with its newline); their offsets."""
    sizes = [0]
    with path.open("wb", buffering=1 << 18) as out:
        for line in lines:
            out.write(line)
            sizes.append(len(line))
    return np.cumsum(np.asarray(sizes, dtype=np.int64))
