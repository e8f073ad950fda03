"""Inverted lists as a sparse matrix by columns: for each term the rows that hold it and how often."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rag_app.index.local.container import Array, Strings, encode
from rag_app.text.words import WordTable

# Postings, and characters, that are worked on together: about as much as a processor's cache holds.
_BLOCK = 1 << 18
_TEXT_BLOCK = 1 << 19


class Postings(NamedTuple):
    """Term t (in order of bytes) stands in `rows[indptr[t]:indptr[t + 1]]`, ascending, `counts` times each."""

    terms: list[bytes]
    indptr: Array
    rows: Array
    counts: Array
    lengths: Array


TermsOfEach = Callable[[Iterable[str], str], Iterable[Sequence[str]]]


def build_postings(texts: Iterable[tuple[str, str]], terms_of_each: TermsOfEach, *, by_word: bool = True) -> Postings:
    """The inverted lists of rows given as (text, language); `terms_of_each(words, language)` are the terms of each.

    Each different word is analyzed once for each language; without `by_word`, each text as a whole.
    """
    by_language: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    n = 0
    for n, (text, language) in enumerate(texts, start=1):
        by_language[language].append((n - 1, text))
    vocabulary: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    found = [_found_in(rows, language, vocabulary, terms_of_each, by_word) for language, rows in by_language.items()]
    names = sorted(vocabulary)  # code points stand in the order of their UTF-8
    place = np.empty(len(names), dtype=np.int64)
    place[[vocabulary[name] for name in names]] = np.arange(len(names))
    keys, lengths = _keys(found, place, n)
    edges = keys.searchsorted(np.arange(len(names) + 1) * n)
    lists = []
    for low, high in _groups(np.diff(edges), _BLOCK):
        own = keys[edges[low] : edges[high]] - low * n
        first = np.flatnonzero(np.diff(own, prepend=-1))
        terms = [encode(name) for name in names[low:high]]
        lists.append(_assemble(terms, own[first], np.diff(first, append=len(own)), lengths))
    return _joined(lists, lengths)


class _Found(NamedTuple):
    """The words of some rows: blocks of (words, row of each); how many terms each word has, and these in a row."""

    blocks: list[tuple[Array, Array]]
    sizes: Array
    values: Array


def _found_in(
    rows: Sequence[tuple[int, str]],
    language: str,
    vocabulary: Mapping[str, int],
    terms_of_each: TermsOfEach,
    by_word: bool,
) -> _Found:
    words: Iterable[str]
    if by_word:
        table = WordTable()
        blocks = [_words_of(table, block) for block in _text_blocks(rows)]
        words = table.words()
    else:
        blocks = [(np.arange(len(rows), dtype=np.int32), np.asarray([row for row, _ in rows], dtype=np.int32))]
        words = [text for _, text in rows]
    sizes, values = list[int](), list[int]()
    for terms in terms_of_each(words, language):
        sizes.append(len(terms))
        values += [vocabulary[term] for term in terms]
    return _Found(blocks, np.asarray(sizes, dtype=np.int32), np.asarray(values, dtype=np.int32))


def _text_blocks(rows: Sequence[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    """The rows in groups of about `_TEXT_BLOCK` characters."""
    start = size = 0
    for end, (_, text) in enumerate(rows, start=1):
        size += len(text)
        if size >= _TEXT_BLOCK or end == len(rows):
            yield rows[start:end]
            start, size = end, 0


def _words_of(table: WordTable, rows: Sequence[tuple[int, str]]) -> tuple[Array, Array]:
    """The numbers of the words that stand in the rows, and the row of each."""
    numbers, places = table.number([text for _, text in rows])
    return numbers, np.asarray([row for row, _ in rows], dtype=np.int32)[places]


def _keys(found: Iterable[_Found], place: Array, n: int) -> tuple[Array, Array]:
    """Each occurrence of a term as a number (its place x n + row), ascending, and how many each row has.

    Takes the blocks out of `found` one by one, so that they and the keys are not both in memory.
    """
    lengths = np.zeros(n)
    for blocks, sizes, _ in found:
        for words, rows in blocks:
            lengths += np.bincount(rows, sizes[words], minlength=n)
    keys, start = np.empty(int(lengths.sum()), dtype=np.int64), 0
    for blocks, sizes, values in found:
        while blocks:
            terms, rows = _spread(sizes, values, *blocks.pop())
            keys[start : start + len(terms)] = place[terms] * n + rows
            start += len(terms)
    keys.sort()
    return keys, lengths


def _spread(sizes: Array, values: Array, words: Array, rows: Array) -> tuple[Array, Array]:
    """Each occurrence of a word as one of each of its terms: (terms, rows)."""
    starts = np.cumsum(sizes) - sizes
    single = sizes[words] == 1  # nearly all
    several, rows_of_several = words[~single], rows[~single]
    times = sizes[several]
    ends = np.cumsum(times)
    within = np.arange(times.sum()) - np.repeat(ends - times, times)
    terms = np.concatenate([values[starts[words[single]]], values[np.repeat(starts[several], times) + within]])
    return terms, np.concatenate([rows[single], np.repeat(rows_of_several, times)])


def _groups(sizes: Array, block: int) -> Iterator[tuple[int, int]]:
    """Terms `low` to `high` that have up to `block` postings together, or one term that has more."""
    edges = np.unique(np.cumsum(sizes).searchsorted(np.arange(0, sizes.sum(), block), side="right"))
    yield from itertools.pairwise([*edges.tolist(), len(sizes)])


def _assemble(terms: list[bytes], keys: Array, counts: Array, lengths: Array) -> Postings:
    """The lists from keys, ascending, and how often each stands."""
    n = max(1, len(lengths))
    indptr = keys.searchsorted(np.arange(len(terms) + 1) * n)
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
    blocks = []
    for low, high in _groups(sizes, block):
        pieces = [_block(numbers, part, low, high) for numbers, part in zip(renumbered, parts, strict=True)]
        term_of, row_of, counts = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
        keys = term_of * max(1, len(lengths)) + row_of
        order = np.argsort(keys, kind="stable")
        blocks.append(_assemble(names[low:high], keys[order], counts[order], lengths))
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
