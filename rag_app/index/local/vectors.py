"""Vectors where they come into the index: what cannot be compared is refused."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_app.errors import EmbeddingError
from rag_app.index.local.container import Array

# Rows whose length is as near to 1 are left as they are, to the last bit.
_UNIT = 1e-4


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
    with np.errstate(over="ignore", under="ignore"):
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not ((norms > 1e-100) & (norms < 1e100)).all():  # the squares of very large or small numbers are lost
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
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
