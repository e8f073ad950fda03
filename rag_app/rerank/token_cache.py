"""Token vectors of passages, kept while they are in use: questions about one corpus meet the same passages again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Vectors = np.ndarray[Any, Any]


class TokenCache:
    """Vectors of the texts used last, at half precision, up to `budget` bytes in all. Safe under threads."""

    def __init__(self, budget: int = 256 * 2**20) -> None:
        self.budget = budget
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, texts: Sequence[str], encode: Callable[[list[str]], Sequence[Vectors]]) -> list[Vectors]:
        """The vectors of each text; those not known are encoded, all at once."""
        found: dict[str, Vectors] = {}
        with self._lock:
            for text in texts:
                if text in self._known:
                    self._known.move_to_end(text)
                    found[text] = self._known[text]
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            for text, vectors in zip(missing, encode(missing), strict=True):
                found[text] = np.asarray(vectors, dtype=np.float16)
            self._keep({text: found[text] for text in missing})
        return [found[text].astype(np.float32) for text in texts]

    def _keep(self, new: dict[str, Vectors]) -> None:
        with self._lock:
            for text, vectors in new.items():
                self._size += vectors.nbytes - (self._known[text].nbytes if text in self._known else 0)
                self._known[text] = vectors
            while self._size > self.budget and self._known:
                _, oldest = self._known.popitem(last=False)
                self._size -= oldest.nbytes
