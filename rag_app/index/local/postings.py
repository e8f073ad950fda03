"""Inverted lists as a sparse matrix by columns: for each term the rows that hold it and how often."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rag_app.index.local.container import Array, Strings, encode


class Postings(NamedTuple):
    """Term t (in order of bytes) stands in `rows[indptr[t]:indptr[t + 1]]`, ascending, `counts` times each."""

    terms: list[bytes]
    indptr: Array
    rows: Array
    counts: Array
    lengths: Array


def build_postings(texts: Iterable[Sequence[str]]) -> Postings:
    """The inverted lists of rows that are given as their terms."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__  # a new term gets the next number
    numbers, lengths = array("i"), array("i")
    for terms in texts:
        numbers.extend(map(vocabulary.__getitem__, terms))
        lengths.append(len(terms))
    sizes = np.frombuffer(lengths, dtype=np.int32) if len(lengths) else np.empty(0, np.int32)
    flat = np.frombuffer(numbers, dtype=np.int32) if len(numbers) else np.empty(0, np.int32)
    names = sorted((encode(term), i) for term, i in vocabulary.items())
    place = np.empty(len(names), dtype=np.int64)
    place[[i for _, i in names]] = np.arange(len(names))
    rows = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    return _assemble([name for name, _ in names], place[flat], rows, None, sizes)


def _assemble(terms: list[bytes], term_of: Array, row_of: Array, counts: Array | None, lengths: Array) -> Postings:
    n = max(1, len(lengths))
    keys = term_of * n + row_of
    if counts is None:
        keys, counts = np.unique(keys, return_counts=True)
    else:
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    indptr = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys // n, minlength=len(terms)), out=indptr[1:])
    small = np.uint16 if not len(counts) or counts.max() < 1 << 16 else np.uint32
    return Postings(terms, indptr, (keys % n).astype(np.int32), counts.astype(small), lengths.astype(np.int32))


def merge_postings(parts: Sequence[tuple[Strings, Array, Array, Array, Array]], lengths: Array) -> Postings:
    """One set of lists from several: each part is (terms, indptr, rows, counts, new row of each row or -1)."""
    tables = [[terms.raw(i) for i in range(len(terms))] for terms, *_ in parts]
    names = sorted(set().union(*tables)) if tables else []
    place = {name: i for i, name in enumerate(names)}
    term_of, row_of, counts = [], [], []
    for table, (_, indptr, rows, tf, moved) in zip(tables, parts, strict=True):
        renumbered = np.fromiter((place[name] for name in table), dtype=np.int64, count=len(table))
        new_rows = moved[rows]
        kept = new_rows >= 0
        term_of.append(np.repeat(renumbered, np.diff(indptr))[kept])
        row_of.append(new_rows[kept].astype(np.int64))
        counts.append(np.asarray(tf)[kept].astype(np.int64))
    empty = np.empty(0, np.int64)
    joined = _assemble(
        names,
        np.concatenate(term_of) if term_of else empty,
        np.concatenate(row_of) if row_of else empty,
        np.concatenate(counts) if counts else empty,
        lengths,
    )
    return _without_empty(joined)


def _without_empty(postings: Postings) -> Postings:
    sizes = np.diff(postings.indptr)
    if bool((sizes > 0).all()):
        return postings
    kept = np.flatnonzero(sizes)
    indptr = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
    return postings._replace(terms=[postings.terms[i] for i in kept], indptr=indptr)
