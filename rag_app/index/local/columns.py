"""Metadata turned on its side: for each field its distinct values and the rows that have them. Filters run on these."""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from rag_app.filters import Condition, Filter, Logic, flatten
from rag_app.index.local.container import Array, Strings, encode, pack
from rag_app.index.local.records import plain, revived
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
        for field, value in flatten(metadata):
            if field in _UNLISTED:
                continue
            try:
                fields[field][type(value), value].append(row)
            except TypeError:  # a list or an object: its JSON is its key
                fields[field][None, _dumped(plain(value, field))].append(row)
    arrays: dict[str, Array] = {}
    descriptions: list[dict[str, Any]] = []
    for i, (field, values) in enumerate(sorted(fields.items())):
        decoded = [revived(json.loads(text)) if kind is None else text for kind, text in values]
        texts = [encode(_dumped(plain(value, field))) for value in decoded]
        arrays[f"column{i}.values"], arrays[f"column{i}.offsets"] = pack(texts)
        sizes = np.fromiter(map(len, values.values()), dtype=np.int64, count=len(values))
        arrays[f"column{i}.indptr"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows_of = chain.from_iterable(values.values())
        arrays[f"column{i}.rows"] = np.fromiter(rows_of, dtype=np.int32, count=int(sizes.sum()))
        descriptions.append({"name": field, "kinds": sorted({kind_of(value) for value in decoded})})
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

    def _column(self, field: str) -> _Column:
        if field not in self._read:
            i = self._number[field]
            values = Strings(self._arrays[f"column{i}.values"], self._arrays[f"column{i}.offsets"])
            self._read[field] = _Column(values, self._arrays[f"column{i}.indptr"], self._arrays[f"column{i}.rows"])
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
