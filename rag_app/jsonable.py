"""Records as plain JSON values, and back: dataclasses, named tuples, pydantic models, and what they hold.

This is the ground: it imports nothing of the package.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """`(number, line)` of the lines of JSON lines that are not blank.

    Only a newline ends a line: JSON may hold U+2028 and its like as they are, where `str.splitlines` would cut it.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def to_json(value: Any) -> Any:
    """A record as plain JSON values: dataclasses become objects, tuples and spans become lists.

    What a person attached may be anything: dates become ISO text, sets sorted lists, numpy values numbers and lists,
    numbers that JSON has not (NaN, infinity) null, and what is left its `str`.
    """
    kind = type(value)
    if value is None or kind is str or kind is int or kind is bool:  # most of all values: told at once
        return value
    if kind is dict:
        return {str(key): to_json(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _attached(value)


def _attached(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted((to_json(item) for item in value), key=lambda item: (type(item).__name__, str(item)))
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        plain = value.tolist()
        return to_json(plain) if type(plain).__module__ != "numpy" else str(value)
    return str(value)


T = TypeVar("T")


def from_json(kind: type[T], value: Any) -> T:
    """The record of type `kind` that `to_json` wrote; the inverse of it. Unknown fields are left aside."""
    return typing.cast(T, _revive(kind, value))


def _revive(kind: Any, value: Any) -> Any:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        return _revive(next(arg for arg in args if arg is not type(None)), value)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        known = {f.name for f in dataclasses.fields(kind)}
        return typing.cast(Any, kind)(**{k: _revive(hints[k], v) for k, v in value.items() if k in known})
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*value)
    if origin is tuple:
        items = [args[0]] * len(value) if args[-1] is Ellipsis else args
        return tuple(_revive(item, v) for item, v in zip(items, value, strict=True))
    if origin is list:
        return [_revive(args[0], item) for item in value]
    if origin in (dict, Mapping):
        return {key: _revive(args[1], item) for key, item in value.items()}
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.model_validate(value)
    return value


def dumps(value: Any) -> str:
    """One line of JSON for a record; the same record gives the same bytes."""
    return json.dumps(to_json(value), ensure_ascii=False, allow_nan=False)
