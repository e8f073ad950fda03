"""Metadata turned on its side: for each field its distinct values and the rows that have them. Filters run on these."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from rag_app.filters import Condition, Filter, Logic, flatten
from rag_app.index.local.container import Array, Strings, encode, pack
from rag_app.index.local.records import is_plain, plain, revived
from rag_app.values import as_date

_dumped = json.JSONEncoder(ensure_ascii=False).encode
# Text that chunks carry for the embedder is no field to filter by.
_UNLISTED = frozenset({"embed_text"})


def kind_of(value: Any) -> str:
    """The kind of a metadata value, in words for people."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "date" if as_date(value) is not None else "string"
    if isinstance(value, dt.date):
        return "date"
    return "object" if isinstance(value, Mapping) else "list"


def build_columns(rows: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Array], list[dict[str, Any]]]:
    """Arrays to store and, for each field, its name and the kinds of its values."""
    fields: defaultdict[str, defaultdict[Any, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, metadata in enumerate(rows):
        for field, value in metadata.items() if is_plain(metadata) else flatten(metadata):
            if field in _UNLISTED:
                continue
            try:
                fields[field][type(value), value].append(row)
            except TypeError:  # a list or an object: its JSON is its key
                fields[field][None, _dumped(plain(value, field))].append(row)
    arrays: dict[str, Array] = {}
    descriptions: list[dict[str, Any]] = []
    for field, values in sorted(fields.items()):
        decoded = [revived(json.loads(text)) if kind is None else text for kind, text in values]
        sizes = np.fromiter(map(len, values.values()), dtype=np.int64, count=len(values))
        of_values = chain.from_iterable(values.values())
        arrays |= _column(
            len(descriptions),
            [encode(_dumped(plain(value, field))) for value in decoded],
            sizes,
            np.fromiter(of_values, dtype=np.int32, count=int(sizes.sum())),
        )
        descriptions.append({"name": field, "kinds": sorted({kind_of(value) for value in decoded})})
    return arrays, descriptions


def _column(i: int, texts: Sequence[bytes], sizes: Array, rows: Array) -> dict[str, Array]:
    """Values as JSON, how many rows each has, and these one after the other."""
    values, offsets = pack(texts)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    names = (f"column{i}.values", f"column{i}.offsets", f"column{i}.indptr", f"column{i}.rows")
    return dict(zip(names, (values, offsets, indptr, rows), strict=True))


def merge_columns(parts: Sequence[tuple[Columns, Array]]) -> tuple[dict[str, Array], list[dict[str, Any]]]:
    """As `build_columns` of the live rows of several segments: (columns, new row of each row or -1)."""
    arrays: dict[str, Array] = {}
    descriptions: list[dict[str, Any]] = []
    for field in sorted({field for columns, _ in parts for field in columns.fields()}):
        numbers: defaultdict[bytes, int] = defaultdict(itertools.count().__next__)
        found = []
        for columns, moved in parts:
            texts, indptr, rows = columns.stored(field)
            own = np.asarray([numbers[texts.raw(i)] for i in range(len(texts))], dtype=np.int64)
            found.append((np.repeat(own, np.diff(indptr)), moved[rows]))
        values, rows = (np.concatenate(each) for each in zip(*found, strict=True))
        values, rows = values[rows >= 0], rows[rows >= 0]
        first = np.full(len(numbers), np.iinfo(np.int64).max)
        np.minimum.at(first, values, rows)
        order = np.lexsort((rows, values, first[values]))  # values in the order of the rows that have them first
        values, rows = values[order], rows[order]
        starts = np.flatnonzero(np.diff(values, prepend=-1))
        names = list(numbers)
        kept = [names[i] for i in values[starts].tolist()]
        if kept:
            sizes = np.diff(starts, append=len(values))
            arrays |= _column(len(descriptions), kept, sizes, rows.astype(np.int32))
            kinds = {kind_of(revived(json.loads(text))) for text in kept}
            descriptions.append({"name": field, "kinds": sorted(kinds)})
    return arrays, descriptions


class Columns:
    """The columns of one segment, each read when a filter first names it."""

    def __init__(self, arrays: Mapping[str, Array], descriptions: list[dict[str, Any]], rows: int) -> None:
        self._arrays = arrays
        self._number = {description["name"]: i for i, description in enumerate(descriptions)}
        self._rows = rows
        self._read: dict[str, _Column] = {}

    def mask(self, condition: Filter) -> Array:
        """(rows,) booleans: which rows pass."""
        if isinstance(condition, Logic):
            masks = [self.mask(part) for part in condition.parts]
            if condition.operator == "$not":
                return ~masks[0]
            result = np.full(self._rows, condition.operator == "$and")
            for mask in masks:
                result = result & mask if condition.operator == "$and" else result | mask
            return result
        if not isinstance(condition, Condition):
            raise TypeError(f"a filter of unknown type {type(condition).__name__}")
        result = np.full(self._rows, condition.matches_missing)
        if condition.field in self._number:
            self._column(condition.field).apply(condition, result)
        return result

    def fields(self) -> Iterable[str]:
        """The names of the fields."""
        return self._number

    def stored(self, field: str) -> tuple[Strings, Array, Array]:
        """The different values as JSON, and the rows of value i: rows[indptr[i]:indptr[i + 1]]; none for no field."""
        if field not in self._number:
            return Strings(*pack([])), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
        i = self._number[field]
        values = Strings(self._arrays[f"column{i}.values"], self._arrays[f"column{i}.offsets"])
        return values, self._arrays[f"column{i}.indptr"], self._arrays[f"column{i}.rows"]

    def _column(self, field: str) -> _Column:
        if field not in self._read:
            self._read[field] = _Column(*self.stored(field))
        return self._read[field]


class _Column:
    def __init__(self, values: Strings, indptr: Array, rows: Array) -> None:
        self.values = [revived(json.loads(text)) for text in values.all()]
        self.indptr = indptr
        self.rows = rows
        self.simple: dict[Any, list[int]] = {}  # 1 and 1.0 are two values of one key
        self.others: list[int] = []
        for i, value in enumerate(self.values):
            key = _key(value)
            (self.others if key is None else self.simple.setdefault(key, [])).append(i)
        numbers = [value for value in self.values if isinstance(value, int | float) and not isinstance(value, bool)]
        exact = len(numbers) == len(self.values) and all(abs(value) < 1 << 53 for value in numbers)
        self.numbers = np.asarray(numbers, dtype=np.float64) if exact else None

    def apply(self, condition: Condition, mask: Array) -> None:
        if condition.operator == "$exists":
            mask[self.rows] = bool(condition.operand)
            return
        passing = self._passing(condition)
        if len(passing) == len(self.values):
            mask[self.rows] = True
        elif len(passing) * 8 > len(self.values):
            chosen = np.zeros(len(self.values), dtype=bool)
            chosen[passing] = True
            mask[self.rows[np.repeat(chosen, np.diff(self.indptr))]] = True
        else:
            for i in passing:
                mask[self.rows[self.indptr[i] : self.indptr[i + 1]]] = True

    def _passing(self, condition: Condition) -> Any:
        operands = condition.operand if condition.operator == "$in" else (condition.operand,)
        if condition.operator in ("$eq", "$in") and all(_key(operand) is not None for operand in operands):
            found = {i for operand in operands for i in self.simple.get(_key(operand), ())}
            return sorted(found | {i for i in self.others if condition.test(self.values[i])})
        fast = _NUMERIC.get(condition.operator)
        if fast is not None and self.numbers is not None and _plain_number(condition.operand):
            return np.flatnonzero(fast(self.numbers, condition.operand))
        return [i for i, value in enumerate(self.values) if condition.test(value)]


_NUMERIC: Mapping[str, Any] = {"$gt": np.greater, "$gte": np.greater_equal, "$lt": np.less, "$lte": np.less_equal}


def _plain_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1 << 53


def _key(value: Any) -> Any:
    """A key under which equal values meet; None for values that need the slow comparison (dates, lists, objects)."""
    if value is None or isinstance(value, bool):
        return ("constant", value)
    if isinstance(value, int | float):
        return ("number", value)
    if isinstance(value, str) and as_date(value) is None:
        return ("string", value)
    return None
