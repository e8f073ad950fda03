"""Inverted lists as a sparse matrix by columns: for each term the rows that hold it and how often."""

from __future__ import annotations

import itertools
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
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


TermsOfEach = Callable[[Iterable[str], str], Iterable[Sequence[str]]]


def build_postings(texts: Iterable[tuple[str, str]], terms_of_each: TermsOfEach) -> Postings:
    """The inverted lists of rows given as (text, language); `terms_of_each(pieces, language)` are the terms of each.

    No term reaches over a space, so each different piece between spaces is analyzed once.
    """
    numbering = itertools.count()
    pieces: dict[str, defaultdict[str, int]] = {}  # language -> piece -> number
    flat, lengths = array("i"), array("i")
    for text, language in texts:
        if language not in pieces:
            pieces[language] = defaultdict(numbering.__next__)
        before = len(flat)
        flat.extend(map(pieces[language].__getitem__, text.split()))
        lengths.append(len(flat) - before)
    vocabulary: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    terms_of_piece: list[list[int]] = [[]] * sum(map(len, pieces.values()))
    for language, table in pieces.items():
        for number, found in zip(table.values(), terms_of_each(table, language), strict=True):
            terms_of_piece[number] = [vocabulary[term] for term in found]
    piece_of = np.frombuffer(flat, dtype=np.int32) if len(flat) else np.empty(0, np.int32)
    rows = np.repeat(np.arange(len(lengths), dtype=np.int64), np.asarray(lengths, dtype=np.int64))
    terms, rows = _spread(terms_of_piece, piece_of, rows)
    names = sorted((encode(term), i) for term, i in vocabulary.items())
    place = np.empty(len(names), dtype=np.int64)
    place[[i for _, i in names]] = np.arange(len(names))
    sizes = np.bincount(rows, minlength=len(lengths))
    return _assemble([name for name, _ in names], place[terms], rows, None, sizes)


def _spread(terms_of_piece: Sequence[Sequence[int]], pieces: Array, rows: Array) -> tuple[Array, Array]:
    """Each occurrence of a piece as one occurrence of each of its terms: (terms, rows)."""
    counts = np.fromiter(map(len, terms_of_piece), dtype=np.int64, count=len(terms_of_piece))
    starts = np.cumsum(counts) - counts
    terms = np.fromiter(itertools.chain.from_iterable(terms_of_piece), dtype=np.int64, count=int(counts.sum()))
    times = counts[pieces]
    ends = np.cumsum(times)
    total = int(ends[-1]) if len(ends) else 0
    within = np.arange(total) - np.repeat(ends - times, times)
    return terms[np.repeat(starts[pieces], times) + within], np.repeat(rows, times)


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
