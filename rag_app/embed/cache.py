"""Vectors kept by the content they were made from, so that nothing is embedded twice. Two files that only grow."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rag_app.embed.base import Embedder

_KEY = 16
_BATCH = 1000
_ENTRY = np.dtype([("key", np.uint8, (_KEY,)), ("crc", "<u4")])


class EmbeddingCache:
    """A folder with `<model>.keys` and `<model>.vectors`; row i of one belongs to row i of the other.

    Each vector has its CRC beside its key: what a crash left half written, or what was changed, is not found.
    One process may write at a time (the lock of the index); any number may read.

    The mark is the model's, not its backend's or precision's: torch's and OpenVINO's vectors agree within a cosine of
    .999, so what one made serves the other, and a change of backend embeds nothing again.
    """

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        mark = hashlib.sha256(json.dumps(embedder.fingerprint(), sort_keys=True).encode()).hexdigest()[:16]
        self._keys = folder / f"{mark}.keys"
        self._vectors = folder / f"{mark}.vectors"
        self._row = embedder.dimension * 4
        self._places: dict[bytes, tuple[int, int]] | None = None

    @staticmethod
    def key(text: str) -> bytes:
        """The content's hash."""
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()

    def _read(self) -> dict[bytes, tuple[int, int]]:
        if self._places is None:
            self._places = {}
            if self._keys.exists() and self._vectors.exists():
                raw = self._keys.read_bytes()
                entries = np.frombuffer(raw[: len(raw) // _ENTRY.itemsize * _ENTRY.itemsize], dtype=_ENTRY)
                rows = min(len(entries), self._vectors.stat().st_size // self._row)
                keys, crcs = entries["key"][:rows].tobytes(), entries["crc"][:rows].tolist()
                self._places = {keys[i * _KEY : (i + 1) * _KEY]: (i, crc) for i, crc in enumerate(crcs)}
        return self._places

    def get(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors that are there, by text."""
        places = self._read()
        wanted = {text: places[key] for text in dict.fromkeys(texts) if (key := self.key(text)) in places}
        found: dict[str, npt.NDArray[np.float32]] = {}
        if wanted:
            with self._vectors.open("rb") as file:
                for text, (row, crc) in wanted.items():
                    file.seek(row * self._row)
                    raw = file.read(self._row)
                    if len(raw) == self._row and zlib.crc32(raw) == crc:
                        found[text] = np.frombuffer(raw, dtype=np.float32)
        return found

    def put(self, vectors: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Append vectors by text."""
        if not vectors:
            return
        places = self._read()
        self._keys.parent.mkdir(parents=True, exist_ok=True)
        first = self._whole_rows()
        entries = np.zeros(len(vectors), dtype=_ENTRY)
        with self._vectors.open("r+b" if self._vectors.exists() else "w+b") as file:
            # A row that a crash cut short is written over.
            file.truncate(first * self._row)
            file.seek(first * self._row)
            for i, (text, vector) in enumerate(vectors.items()):
                raw = np.ascontiguousarray(vector, dtype=np.float32).tobytes()
                file.write(raw)
                key = self.key(text)
                entries[i]["key"], entries[i]["crc"] = np.frombuffer(key, dtype=np.uint8), zlib.crc32(raw)
                places[key] = (first + i, int(entries[i]["crc"]))
        with self._keys.open("r+b" if self._keys.exists() else "w+b") as file:
            file.truncate(first * _ENTRY.itemsize)
            file.seek(first * _ENTRY.itemsize)
            file.write(entries.tobytes())

    def __len__(self) -> int:
        return self._whole_rows()

    def others(self) -> list[Path]:
        """The files of other models."""
        own = (self._keys.name, self._vectors.name)
        return sorted(file for file in self._keys.parent.glob("*") if file.name not in own)

    def keep_only(self, texts: Iterable[str]) -> int:
        """Forget the vectors of all texts but these, and of other models; how many rows of this one went.

        A crash between the two replacements leaves vectors whose CRC is another: they are not found, and made anew.
        """
        for file in self.others():
            file.unlink(missing_ok=True)
        before = self._whole_rows()
        fresh = copy.copy(self)
        fresh._keys, fresh._vectors = (file.with_name(f"{file.name}.new") for file in (self._keys, self._vectors))
        fresh._places = {}
        remaining = iter(texts)
        while batch := list(itertools.islice(remaining, _BATCH)):
            fresh.put({text: row for text, row in self.get(batch).items() if self.key(text) not in fresh._places})
        if fresh._keys.exists():
            fresh._keys.replace(self._keys)
            fresh._vectors.replace(self._vectors)
        else:
            self._keys.unlink(missing_ok=True)
            self._vectors.unlink(missing_ok=True)
        self._places = None
        return before - self._whole_rows()

    def _whole_rows(self) -> int:
        if not (self._keys.exists() and self._vectors.exists()):
            return 0
        return min(self._keys.stat().st_size // _ENTRY.itemsize, self._vectors.stat().st_size // self._row)
