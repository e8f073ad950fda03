"""Approximate neighbors through FAISS, beside a segment's vectors: a graph (`hnsw`), or 8 bits a number (`int8`).

They only propose rows; the scores are worked out from the vectors themselves, and where proposals may fall short of
what was asked for the exact scan takes over.
"""

from __future__ import annotations

import importlib
import threading
from pathlib import Path
from typing import Any

import numpy as np

from rag_app.index.local.container import Array

FILES = {"hnsw": "hnsw.faiss", "int8": "int8.faiss"}
# An exact scan of fewer rows takes less than a millisecond.
SMALLEST = 1000
_LINKS, _EF_BUILD, _EF_SEARCH = 32, 100, 128


def write_neighbors(path: Path, vectors: Array, kind: str) -> None:
    """Build the structure for unit rows (n, d) and write it.

    Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using HNSW graphs", TPAMI 2020.
    """
    import faiss

    dimension = vectors.shape[1]
    index: Any
    if kind == "hnsw":
        index = faiss.IndexHNSWFlat(dimension, _LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = _EF_BUILD
    else:
        index = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
        index.train(vectors)
    index.add(vectors)
    faiss.write_index(index, str(path))


class Neighbors:
    """The structure of one segment, read when it is first searched."""

    def __init__(self, path: Path, kind: str) -> None:
        self.kind = kind
        self._path = path
        self._index: Any = None
        self._gone = False
        self._lock = threading.Lock()

    def propose(self, query: Array, k: int, mask: Array | None) -> Array | None:
        """Rows that pass the mask, ascending, among them most of the k nearest to `query` (d,).

        None when the file is gone: a merge has taken its place, and who still reads the old segment scans it.
        """
        faiss: Any = importlib.import_module("faiss")  # whose types do not know these calls
        index = self._read()
        if index is None:
            return None
        wanted = k if self.kind == "hnsw" else 4 * k + 32
        options: Any = None
        bits = None if mask is None else np.packbits(mask, bitorder="little")
        selector = None if bits is None else faiss.IDSelectorBitmap(bits)
        if self.kind == "hnsw":
            options = faiss.SearchParametersHNSW(efSearch=max(_EF_SEARCH, 2 * k), sel=selector)
        elif selector is not None:
            options = faiss.SearchParameters(sel=selector)
        wanted = min(wanted, int(index.ntotal))
        _, rows = index.search(np.ascontiguousarray(query[None]), wanted, params=options)
        return np.asarray(np.unique(rows[0][rows[0] >= 0]))

    def _read(self) -> Any:
        with self._lock:
            if self._index is None and not self._gone:
                import faiss

                if self._path.exists():
                    self._index = faiss.read_index(str(self._path), faiss.IO_FLAG_MMAP_IFC)
                else:
                    self._gone = True
            return self._index
