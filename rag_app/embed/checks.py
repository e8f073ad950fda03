"""Vectors that must not enter an index: null, not finite, of the wrong dimension; each named by its chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from rag_app.embed.base import Embedder, Matrix
from rag_app.types import EmbeddingError

MIN_NORM = 0.01


def check_vectors(
    vectors: Sequence[Sequence[float] | None] | npt.NDArray[np.float32], ids: Sequence[str], *, dimension: int
) -> Matrix:
    """The vectors as an (n, d) matrix, when each is there, finite, of `dimension` and at least .01 long.

    Otherwise EmbeddingError with the ids of the chunks at fault.
    """
    faults = {
        chunk_id: fault
        for chunk_id, fault in zip(ids, vector_faults(vectors, dimension=dimension), strict=True)
        if fault
    }
    if faults:
        shown = "; ".join(f"{chunk_id}: {fault}" for chunk_id, fault in list(faults.items())[:5])
        more = f" and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise EmbeddingError(f"{len(faults)} of {len(ids)} vectors cannot be used: {shown}{more}")
    return np.asarray(vectors, dtype=np.float32).reshape(len(ids), dimension)


def vector_faults(
    vectors: Sequence[Sequence[float] | None] | npt.NDArray[np.float32], *, dimension: int
) -> list[str | None]:
    """What is wrong with each vector, in words; None for a good one."""
    if isinstance(vectors, np.ndarray) and vectors.ndim == 2 and vectors.shape[1] == dimension:
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
        if bool(np.all(norms >= MIN_NORM)) and bool(np.isfinite(norms).all()):
            return [None] * len(vectors)
    return [_fault(vector, dimension) for vector in vectors]


def _fault(vector: Sequence[float] | npt.NDArray[np.float32] | None, dimension: int) -> str | None:
    if vector is None:
        return "no vector"
    try:
        row = np.asarray(vector, dtype=np.float64)
    except (TypeError, ValueError):
        return "holds a null or something that is no number"
    if row.shape != (dimension,):
        return f"dimension {row.shape[0] if row.ndim == 1 else row.shape}, expected {dimension}"
    if not np.isfinite(row).all():
        return "holds NaN or infinity"
    norm = float(np.linalg.norm(row))
    return f"length {norm:.4f}, below {MIN_NORM}" if norm < MIN_NORM else None


def overlong(embedder: Embedder, texts: Sequence[str], ids: Sequence[str], *, allowed: int = 0) -> list[str]:
    """One sentence for each chunk that is longer than the model's window and than `allowed`."""
    window = embedder.max_tokens
    if window is None:
        return []
    count: Callable[[str], int] = embedder.count_tokens
    # A token has at least one character, so short texts need no counting.
    sizes = ((chunk_id, count(text)) for chunk_id, text in zip(ids, texts, strict=True) if len(text) > window - 2)
    return [
        f"chunk {chunk_id} has {size} tokens, {embedder.name} reads {window}: its vector is the mean of its parts, "
        "which finds no single sentence well; make chunks smaller (`split.chunk_size`)"
        for chunk_id, size in sizes
        if size > max(window, allowed)
    ]
