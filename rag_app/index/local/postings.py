"""Inverted lists as a sparse matrix by columns: for each term the rows that hold it and how often."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rag_app.index.local.container import Array, Strings, encode

_BLOCK = 1 << 22


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
    flat: list[int] = []
    lengths: list[int] = []
    for text, language in texts:
        if language not in pieces:
            pieces[language] = defaultdict(numbering.__next__)
        before = len(flat)
        flat += map(pieces[language].__getitem__, text.split())
        lengths.append(len(flat) - before)
    vocabulary: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    order, sizes, values = list[int](), list[int](), list[int]()
    for language, table in pieces.items():
        order += table.values()
        terms = list(terms_of_each(table, language))
        sizes += map(len, terms)
        values += map(vocabulary.__getitem__, itertools.chain.from_iterable(terms))
    rows = np.repeat(np.arange(len(lengths), dtype=np.int64), _integers(lengths))
    term_of, rows = _spread(_integers(order), _integers(sizes), _integers(values), _integers(flat), rows)
    names = sorted(vocabulary)  # code points stand in the order of their UTF-8
    place = np.empty(len(names), dtype=np.int64)
    place[[vocabulary[name] for name in names]] = np.arange(len(names))
    found = np.bincount(rows, minlength=len(lengths))
    return _assemble([encode(name) for name in names], place[term_of], rows, None, found)


def _integers(numbers: list[int]) -> Array:
    return np.asarray(numbers, dtype=np.int32)


def _spread(order: Array, sizes: Array, values: Array, pieces: Array, rows: Array) -> tuple[Array, Array]:
    """Each occurrence of a piece as one of each of its terms: (terms, rows).

    Piece order[i] has the next sizes[i] of `values` as its terms.
    """
    counts, starts = np.zeros(len(order), dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    counts[order] = sizes
    starts[order] = np.cumsum(sizes, dtype=np.int64) - sizes
    times = counts[pieces]
    ends = np.cumsum(times)
    total = int(ends[-1]) if len(ends) else 0
    within = np.arange(total) - np.repeat(ends - times, times)
    return values[np.repeat(starts[pieces], times) + within], np.repeat(rows, times)


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


def merge_postings(
    parts: Sequence[tuple[Strings, Array, Array, Array, Array]], lengths: Array, *, block: int = _BLOCK
) -> Postings:
    """One set of lists from several: each part is (terms, indptr, rows, counts, new row of each row or -1).

    Terms are taken together up to `block` postings, so that besides the result memory is needed for these only.
    """
    tables = [[terms.raw(i) for i in range(len(terms))] for terms, *_ in parts]
    names = sorted(set().union(*tables)) if tables else []
    place = {name: i for i, name in enumerate(names)}
    renumbered = [np.fromiter((place[name] for name in table), dtype=np.int64, count=len(table)) for table in tables]
    sizes = np.zeros(len(names), dtype=np.int64)
    for numbers, (_, indptr, *_) in zip(renumbered, parts, strict=True):
        sizes[numbers] += np.diff(indptr)
    edges = np.unique(np.cumsum(sizes).searchsorted(np.arange(0, sizes.sum(), block), side="right"))
    blocks = []
    for low, high in itertools.pairwise([*edges.tolist(), len(names)]):
        pieces = [_block(numbers, part, low, high) for numbers, part in zip(renumbered, parts, strict=True)]
        term_of, row_of, counts = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
        blocks.append(_assemble(names[low:high], term_of, row_of, counts, lengths))
    return _without_empty(_joined(blocks, lengths))


def _block(numbers: Array, part: tuple[Strings, Array, Array, Array, Array], low: int, high: int) -> tuple[Array, ...]:
    """Term (counted from `low`), new row and count of each posting of the terms `low` to `high` whose row is kept."""
    _, indptr, rows, counts, moved = part
    first, last = numbers.searchsorted([low, high]).tolist()
    places = slice(int(indptr[first]), int(indptr[last]))
    new_rows = moved[rows[places]]
    kept = new_rows >= 0
    terms = np.repeat(numbers[first:last] - low, np.diff(indptr[first : last + 1]))
    return terms[kept], new_rows[kept], counts[places][kept]


def _joined(blocks: Sequence[Postings], lengths: Array) -> Postings:
    ends = np.cumsum([0, *(len(block.rows) for block in blocks)])
    indptr = [block.indptr[1:] + end for block, end in zip(blocks, ends[:-1].tolist(), strict=True)]
    return Postings(
        [term for block in blocks for term in block.terms],
        np.concatenate([np.zeros(1, dtype=np.int64), *indptr]),
        np.concatenate([np.empty(0, dtype=np.int32), *(block.rows for block in blocks)]),
        np.concatenate([np.empty(0, dtype=np.uint16), *(block.counts for block in blocks)]),
        lengths.astype(np.int32),
    )


def _without_empty(postings: Postings) -> Postings:
    sizes = np.diff(postings.indptr)
    if bool((sizes > 0).all()):
        return postings
    kept = np.flatnonzero(sizes)
    indptr = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
    return postings._replace(terms=[postings.terms[i] for i in kept], indptr=indptr)
