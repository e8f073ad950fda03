"""The arithmetic of the two rankings: plain functions of numbers and arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rag_app.index.local.container import Array, Strings

if TYPE_CHECKING:
    from rag_app.index.settings import BM25Settings

Floats = npt.NDArray[np.float64]

_BLOCK = 512
# Up to so many scores a partition of all is the cheaper way to the k-th best.
_FEW = 2000


def idf(settings: BM25Settings, *, n: int, df: int) -> float:
    """The weight of a term that `df` of `n` chunks have. `okapi` may be negative here; see `okapi_floor`."""
    if settings.variant == "lucene":
        return math.log(1 + (n - df + 0.5) / (df + 0.5))
    if settings.variant == "okapi":
        return math.log(n - df + 0.5) - math.log(df + 0.5)
    if settings.variant == "plus":
        return math.log((n + 1) / df)
    return math.log(n + 1) - math.log(df + 0.5)


def okapi_floor(settings: BM25Settings, *, n: int, dfs: Array) -> float:
    """What rank-bm25 puts in place of a negative idf: epsilon times the mean idf of all terms."""
    if not len(dfs):
        return 0.0
    values = np.log(n - dfs + 0.5) - np.log(dfs + 0.5)
    return settings.epsilon * float(values.sum() / len(dfs))


def length_norms(settings: BM25Settings, *, lengths: Array, average: float) -> Floats:
    """1 - b + b length / average for each chunk: above 1 where it is longer than the average."""
    return np.asarray(1 - settings.b + settings.b * np.maximum(lengths, 1).astype(np.float64) / (average or 1.0))


def term_weights(settings: BM25Settings, *, counts: Array, norm: Floats) -> Floats:
    """The part of each chunk's score that depends on how often it has the term: (m,), (m,) -> (m,) float64.

    lucene, okapi: tf (k1 + 1) / (tf + k1 norm). plus: the same, plus delta.
    l: (k1 + 1)(c + delta) / (k1 + c + delta) with c = tf / norm.
    """
    k1 = settings.k1
    tf = counts.astype(np.float64)
    if settings.variant == "l":
        delta = 0.5 if settings.delta is None else settings.delta
        # A norm of 0 needs b = 1 and no term at all, which a chunk with the term cannot have.
        c = tf / norm + delta
        return np.asarray((k1 + 1) * c / (k1 + c))
    result = tf * (k1 + 1) / (tf + k1 * norm)
    if settings.variant == "plus":
        result = result + (1.0 if settings.delta is None else settings.delta)
    return np.asarray(result)


def impacts_at(listed: Array, impacts: Array, rows: Array) -> tuple[Array, Array]:
    """For each of `rows` whether it is listed (ascending), and its impact; 0 where it is not."""
    if not len(listed):
        return np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
    places = np.minimum(listed.searchsorted(rows), len(listed) - 1)
    found = np.asarray(listed[places] == rows)
    return found, np.where(found, impacts[places], 0.0)


def candidates(scores: Array, k: int, *, slack: float = 0.0, above: float = -np.inf) -> Array:
    """Rows, ascending, that may be among the k best when each score may be off by `slack`; only those over `above`.

    A lower bound for the k-th best comes from the maxima of many small groups, which is cheaper than a partition.
    """
    n = len(scores)
    if k < n <= _FEW:
        bound = np.partition(scores, n - k)[n - k] - slack
        return np.flatnonzero(scores >= bound if bound > above else scores > above)
    width = min(n // max(4 * k, 1), 64)
    if width < 2:
        return np.flatnonzero(scores > above)
    groups = n // width
    table = scores[: groups * width].reshape(width, groups)
    best = table.max(axis=0)
    bound = np.partition(best, groups - k)[groups - k] - slack
    if not bound > above:
        return np.flatnonzero(scores > above)
    columns = np.flatnonzero(best >= bound)
    inner, column = np.nonzero(table[:, columns] >= bound)
    rest = np.flatnonzero(scores[groups * width :] >= bound) + groups * width
    return np.sort(np.concatenate([inner * groups + columns[column], rest]))


def products_of(vectors: Array, queries: Array) -> Iterator[Array]:
    """For each query (q, d) its product with every row (n, d), in single precision.

    A product a row reads memory as fast as it can be read; BLAS takes twice as long for one query (`gemv`) and is the
    faster way from five on.
    """
    if len(queries) < 5:
        yield from (np.vecdot(vectors, query) for query in queries)
    else:
        yield from map(np.ascontiguousarray, (vectors @ queries.T).T)


def products_at(vectors: Array, rows: Array, query: Array) -> Array:
    """The product of `query` with the rows named, (m,), in single precision; gathered by blocks that stay in cache."""
    result = np.empty(len(rows), dtype=np.float32)
    block = np.empty((min(_BLOCK, len(rows)), vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK):
        chosen = rows[start : start + _BLOCK]
        own = block[: len(chosen)]
        np.take(vectors, chosen, axis=0, out=own, mode="clip")  # another mode would gather in a copy first
        np.vecdot(own, query, out=result[start : start + len(chosen)])
    return result


def cosines(vectors: Array, query: Array) -> Floats:
    """(m, d), (d,) -> (m,): the sum of products in double precision, the same for a row wherever it stands."""
    products = vectors.astype(np.float64) * query.astype(np.float64)
    sums: Floats = np.clip(products.sum(axis=1), -1.0, 1.0)
    return sums


def top(rows: Array, scores: Floats, k: int) -> list[tuple[int, float]]:
    """The k best (row, score), best first; equal scores in order of row."""
    order = np.lexsort((rows, -scores))[:k]
    return list(zip(rows[order].tolist(), scores[order].tolist(), strict=True))


def best_of(parts: Sequence[tuple[Strings, Sequence[tuple[int, float]]]], k: int) -> list[tuple[str, float]]:
    """The k best (id, score) of several lists of (row, score), each with its table of ids; best first, ties by id."""
    scores = sorted((score for _, part in parts for _, score in part), reverse=True)
    least = scores[k - 1] if len(scores) > k else -math.inf  # below it no id need be read
    pairs = [(ids[row], score) for ids, part in parts for row, score in part if score >= least]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]
