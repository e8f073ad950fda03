"""Values of metadata: the form they are kept in, what is a date, when two are equal, which comes first."""

from __future__ import annotations

import datetime as dt
import enum
import re
from collections.abc import Mapping
from typing import Any

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?\Z")


def stored_form(value: Any) -> Any:
    """What an index keeps of a value that JSON does not know: a numpy number as a number, a path or an id as text."""
    if isinstance(value, enum.Enum):
        return value.value
    if value is None or type(value) in (str, bool, int, float):
        return value
    import decimal
    import pathlib
    import uuid

    if isinstance(value, pathlib.PurePath | uuid.UUID | decimal.Decimal):
        return str(value)
    is_numpy_scalar = hasattr(value, "dtype") and getattr(value, "shape", None) == ()
    return value.item() if is_numpy_scalar else value


def as_date(value: Any) -> dt.datetime | None:
    """The moment a date, datetime or ISO string names (UTC where no zone is given); None for anything else."""
    if isinstance(value, str):
        if not _ISO.match(value):
            return None
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return None
    elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    if not isinstance(value, dt.datetime):
        return None
    return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(a: Any, b: Any) -> bool:
    """Equality of metadata values: numbers by value, dates by moment, lists member by member, kinds never mixed."""
    if _is_number(a) and _is_number(b):
        return bool(a == b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, str) and isinstance(b, str):
        return a == b or _same_moment(a, b)
    if isinstance(a, dt.date) or isinstance(b, dt.date):
        return _same_moment(a, b)
    return type(a) is type(b) and bool(a == b)


def _same_moment(a: Any, b: Any) -> bool:
    first, second = as_date(a), as_date(b)
    return first is not None and first == second


def compare(a: Any, b: Any) -> int | None:
    """-1, 0 or 1 for a before, at or after b; None when they have no common order."""
    x: Any
    y: Any
    if _is_number(a) and _is_number(b):
        x, y = a, b
    else:
        x, y = as_date(a), as_date(b)
        if x is None or y is None:
            if not (isinstance(a, str) and isinstance(b, str)):
                return None
            x, y = a, b
    if x == y:
        return 0
    return -1 if x < y else 1 if x > y else None
