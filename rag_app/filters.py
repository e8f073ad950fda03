"""The filter language: the dictionaries that LangChain users know, checked with the path of a fault, then evaluated.

`{"year": 2024}` · `{"year": {"$gte": 2020, "$lt": 2024}}` · `{"$or": [{"tag": "a"}, {"tag": {"$in": ["b", "c"]}}]}`

- Numbers compare as numbers, dates (`date`, `datetime`, ISO 8601 strings) as dates, other strings by code point; values
  of different kinds are neither equal nor ordered. `True` is not 1.
- A missing key never matches a comparison, `$ne` and `$nin` included; `{"key": None}` matches only an explicit null.
  `$exists` and `$not` are the ways to ask for what is missing.
- On a list, equality, `$in` and `$contains` ask for a member (equality also for the whole list); `$ne` and `$nin`
  are the opposite of `$eq` and `$in` where the key is there. In a string, `$contains` asks for a part of it.
- A dot reaches into nested metadata (`author.name`), unless a key with the dot is there.
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_app.errors import ConfigError
from rag_app.values import compare, equal, stored_form

_MISSING = object()
OPERATORS = ("$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$between", "$exists", "$contains")
LOGIC = ("$and", "$or", "$not")
_DEEPEST = 100  # conditions, lists and objects inside each other; a person's filter has three or four


class Filter(ABC):
    """A condition on metadata."""

    @abstractmethod
    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether a chunk with this metadata passes."""

    @abstractmethod
    def fields(self) -> frozenset[str]:
        """The metadata fields the condition looks at."""


@dataclass(frozen=True, slots=True)
class Condition(Filter):
    """One operator on one field. `test` looks at a value that is there; a missing one passes `$exists: False`."""

    field: str
    operator: str
    operand: Any

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        value = lookup(metadata, self.field)
        return self.matches_missing if value is _MISSING else self.test(stored_form(value))

    @property
    def matches_missing(self) -> bool:
        """Whether chunks without the field pass."""
        return self.operator == "$exists" and not self.operand

    def test(self, value: Any) -> bool:
        """Whether this value of the field passes."""
        return _TESTS[self.operator](value, self.operand)

    def fields(self) -> frozenset[str]:
        return frozenset({self.field})


@dataclass(frozen=True, slots=True)
class Logic(Filter):
    """`$and`, `$or` or `$not` over other filters. `$and` of none passes all, `$or` of none passes nothing."""

    operator: str
    parts: tuple[Filter, ...]

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        if self.operator == "$not":
            return not self.parts[0].matches(metadata)
        return (all if self.operator == "$and" else any)(part.matches(metadata) for part in self.parts)

    def fields(self) -> frozenset[str]:
        return frozenset().union(*(part.fields() for part in self.parts))


def lookup(metadata: Mapping[str, Any], field: str) -> Any:
    """The value of `field`, through dots where needed; a private mark when it is missing."""
    if field in metadata or "." not in field:
        return metadata.get(field, _MISSING)
    head, _, rest = field.partition(".")
    inner = metadata.get(head, _MISSING)
    return lookup(inner, rest) if isinstance(inner, Mapping) else _MISSING


def flatten(metadata: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every (field, value) that `lookup` can reach: `{"a": {"b": 1}}` gives `("a", {...})` and `("a.b", 1)`."""
    for key, value in metadata.items():
        yield f"{prefix}{key}", value
        if isinstance(value, Mapping) and "." not in str(key):  # a dot leads into an object of one word's name only
            for field, inner in flatten(value, f"{prefix}{key}."):
                if field not in metadata:
                    yield field, inner


def parse_filter(value: Mapping[str, Any] | Filter) -> Filter:
    """The filter that the dictionary means; ConfigError names the path of what cannot be meant.

    Several keys beside each other are joined by "and". The empty dictionary passes everything.
    """
    return _parse(value, "filter")


def filter_each(filter: Any, queries: int) -> list[Any]:
    """One filter a query, not yet parsed: the one that is given for all, or the list that has one (or None) for each.

    ConfigError for a list of another length: nothing is padded or recycled.
    """
    each = list(filter) if isinstance(filter, list | tuple) else [filter] * queries
    if len(each) != queries:
        raise ConfigError(f"filter: {len(each)} filters for {queries} queries; give one for all, or a list of one each")
    return each


def _parse(value: Any, path: str) -> Filter:
    _check_depth(path)
    if isinstance(value, Filter):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path}: expected an object like {{'field': value}}, found {_show(value)}")
    parts: list[Filter] = []
    for key, operand in value.items():
        here = f"{path}.{key}"
        if not isinstance(key, str):
            raise ConfigError(f"{path}: keys are names of metadata fields, found {_show(key)}")
        if key in ("$and", "$or"):
            if not isinstance(operand, Sequence) or isinstance(operand, str | bytes) or not operand:
                raise ConfigError(f"{here}: expected a list of one filter or more, found {_show(operand)}")
            parts.append(Logic(key, tuple(_parse(part, f"{here}[{i}]") for i, part in enumerate(operand))))
        elif key == "$not":
            parts.append(Logic("$not", (_parse(operand, here),)))
        elif key.startswith("$"):
            known = ", ".join(LOGIC)
            raise ConfigError(f"{here}: {key} needs a field before it, or is unknown; here stand fields or {known}")
        else:
            parts.append(_parse_field(key, operand, here))
    return parts[0] if len(parts) == 1 else Logic("$and", tuple(parts))


def _check_depth(path: str) -> None:
    # Every step down adds a name or a place to the path, so a short path needs no counting.
    if len(path) > _DEEPEST and path.count("[") + path.count(".") > _DEEPEST:
        raise ConfigError(f"{path[:60]}...: the filter is nested more than {_DEEPEST} levels deep; write it flatter")


def _parse_field(field: str, operand: Any, path: str) -> Filter:
    _check_depth(path)
    if not isinstance(operand, Mapping) or not any(str(key).startswith("$") for key in operand):
        return Condition(field, "$eq", _checked_scalar(operand, path))
    parts: list[Filter] = []
    for operator, inner in operand.items():
        here = f"{path}.{operator}"
        if operator == "$not":
            parts.append(Logic("$not", (_parse_field(field, inner, here),)))
        elif operator in OPERATORS:
            parts.append(Condition(field, operator, _checked(operator, inner, here)))
        else:
            raise ConfigError(f"{here}: unknown operator; there are {', '.join((*OPERATORS, '$not'))}")
    return parts[0] if len(parts) == 1 else Logic("$and", tuple(parts))


def _checked(operator: str, operand: Any, path: str) -> Any:
    if operator in ("$in", "$nin", "$between"):
        if not isinstance(operand, Sequence | set | frozenset) or isinstance(operand, str | bytes):
            raise ConfigError(f"{path}: expected a list, found {_show(operand)}")
        values = tuple(_checked_scalar(item, f"{path}[{i}]") for i, item in enumerate(operand))
        if operator == "$between":
            if len(values) != 2:
                raise ConfigError(f"{path}: expected [lowest, highest], found {len(values)} values")
            return tuple(_checked_ordered(item, f"{path}[{i}]") for i, item in enumerate(values))
        return values
    if operator == "$exists" and not isinstance(operand, bool):
        raise ConfigError(f"{path}: expected true or false, found {_show(operand)}")
    if operator in ("$gt", "$gte", "$lt", "$lte"):
        return _checked_ordered(operand, path)
    return _checked_scalar(operand, path)


def _checked_scalar(value: Any, path: str) -> Any:
    _check_depth(path)
    value = stored_form(value)
    if isinstance(value, float) and value != value:
        raise ConfigError(f"{path}: NaN equals nothing and has no order")
    if value is None or isinstance(value, str | int | float | dt.date):
        return value
    if isinstance(value, list | tuple):
        return tuple(_checked_scalar(item, f"{path}[{i}]") for i, item in enumerate(value))
    if isinstance(value, Mapping):
        return {str(key): _checked_scalar(item, f"{path}.{key}") for key, item in value.items()}
    raise ConfigError(
        f"{path}: {_show(value)} cannot be compared; use a string, number, date, true, false, null or a list"
    )


def _checked_ordered(value: Any, path: str) -> Any:
    value = stored_form(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float | dt.date):
        raise ConfigError(f"{path}: only numbers, dates and strings have an order, found {_show(value)}")
    return _checked_scalar(value, path)


def _show(value: Any) -> str:
    text = repr(value)
    return f"{text[:60]} ({type(value).__name__})"


def _equal_or_member(value: Any, operand: Any) -> bool:
    return equal(value, operand) or (isinstance(value, list | tuple) and any(equal(item, operand) for item in value))


def _in(value: Any, operand: Sequence[Any]) -> bool:
    return any(_equal_or_member(value, item) for item in operand)


def _contains(value: Any, operand: Any) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    return isinstance(value, list | tuple) and any(equal(item, operand) for item in value)


def _between(value: Any, operand: Sequence[Any]) -> bool:
    return compare(value, operand[0]) in (0, 1) and compare(value, operand[1]) in (-1, 0)


_TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": _equal_or_member,
    "$ne": lambda value, operand: not _equal_or_member(value, operand),
    "$in": _in,
    "$nin": lambda value, operand: not _in(value, operand),
    "$gt": lambda value, operand: compare(value, operand) == 1,
    "$gte": lambda value, operand: compare(value, operand) in (0, 1),
    "$lt": lambda value, operand: compare(value, operand) == -1,
    "$lte": lambda value, operand: compare(value, operand) in (-1, 0),
    "$between": _between,
    "$exists": lambda value, operand: bool(operand),
    "$contains": _contains,
}
