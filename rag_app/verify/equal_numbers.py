"""The numbers of a claim as its source writes them: "five million", "五百万" and "5 million" are "5,000,000" there.

Words are looked up by their stems, so a number in other digits, words or units would not be found. Its words give way
to those of an equal number of the source; a number without an equal there stands in plain digits.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence

from rag_app.types import Span
from rag_app.verify.quantities import Quantity, quantities_of
from rag_app.verify.quantity import same_value
from rag_app.verify.source import IndexedSource
from rag_app.verify.words import Word, stem, stems_of

_LARGEST = 1e15
"""Beyond, a float is no longer the number that was written."""

Found = dict[str, set[int]]


def words_as_written(claim: str, words: Sequence[Word], source: IndexedSource) -> tuple[list[Word], Found]:
    """(words, found): the words of `claim` with its numbers as the source writes them, and for each stem of such a
    number the units of the source that hold an equal one, however written there.
    """
    written: list[Word] = []
    found: Found = {}
    known: dict[tuple[object, ...], tuple[list[str], set[int]]] = {}
    starts = [word.span.start for word in words]
    done = 0
    for quantity in quantities_of(claim):
        first = bisect.bisect_left(starts, quantity.span.start, lo=done)
        last = bisect.bisect_left(starts, quantity.span.end, lo=first)
        inside = words[first:last]
        if not inside:
            continue
        said = [word.stem for word in inside]
        key = (*said, *quantity.key())
        if key not in known:
            known[key] = _as_written(quantity, said, source)
        stems, units = known[key]
        written.extend(words[done:first])
        written.extend(inside if stems == said else _words(stems, Span(inside[0].span.start, inside[-1].span.end)))
        done = last
        for one in stems if units else ():
            found.setdefault(one, set()).update(units)
    written.extend(words[done:])
    return written, found


def _as_written(quantity: Quantity, said: list[str], source: IndexedSource) -> tuple[list[str], set[int]]:
    """The stems that stand for the number in the source, and the units that hold it."""
    equal = [q for q in source.quantities if q.dimension == quantity.dimension and same_value(quantity, q)]
    if not equal:
        return _in_digits(quantity, said), set()
    forms = [stems_of(other.text) for other in equal]
    # As the claim writes it, where the source does so too; else as the source writes it first.
    stems = said if any(set(said) <= set(form) for form in forms) else next(filter(None, forms), said)
    return stems, {source.unit_at(other.span.start) for other in equal}


def _in_digits(quantity: Quantity, said: list[str]) -> list[str]:
    value = quantity.values[0]
    is_plain = len(quantity.values) == 1 and quantity.factor == 1 and not quantity.is_share
    if any(char.isdigit() for char in quantity.text) or not is_plain or not value.is_integer() or value > _LARGEST:
        return said
    return [stem(str(int(value)))]


def _words(stems: Iterable[str], span: Span) -> list[Word]:
    return [Word(one, span, one) for one in stems]
