"""The filter language: what passes, what does not, and what is refused with its path."""

from __future__ import annotations

import datetime as dt
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest

from rag_app.filters import flatten, lookup, parse_filter
from rag_app.types import ConfigError

CHUNK: dict[str, Any] = {
    "year": 2023,
    "price": 9.5,
    "title": "Pump manual",
    "draft": False,
    "note": None,
    "tags": ["pump", "safety"],
    "date": "2024-03-01",
    "seen": dt.datetime(2024, 3, 1, 12, 0),
    "day": dt.date(2024, 3, 1),
    "author": {"name": "Ada", "age": 36},
    "big": 2**53 + 1,
    "nan": float("nan"),
}


@pytest.mark.parametrize(
    "condition",
    [
        {},
        {"year": 2023},
        {"year": 2023.0},
        {"year": {"$eq": 2023}},
        {"year": {"$ne": 2022}},
        {"year": {"$in": [2022, 2023]}},
        {"year": {"$nin": [2021, 2022]}},
        {"year": {"$gt": 2022, "$lte": 2023}},
        {"year": {"$between": [2023, 2025]}},
        {"price": {"$lt": 10}},
        {"title": {"$contains": "manual"}},
        {"title": {"$gte": "P"}},
        {"draft": False},
        {"note": None},
        {"note": {"$exists": True}},
        {"missing": {"$exists": False}},
        {"tags": "pump"},
        {"tags": ["pump", "safety"]},
        {"tags": {"$contains": "safety"}},
        {"tags": {"$in": ["other", "safety"]}},
        {"date": {"$gte": dt.date(2024, 2, 28)}},
        {"date": dt.date(2024, 3, 1)},
        {"date": {"$lt": "2024-03-01T00:00:01"}},
        {"seen": {"$gt": "2024-03-01"}},
        {"seen": {"$between": ["2024-03-01T14:00:00+02:00", dt.datetime(2024, 3, 1, 12, 0)]}},
        {"day": "2024-03-01"},
        {"author.name": "Ada"},
        {"author": {"name": "Ada", "age": 36}},
        {"author.age": {"$gte": 30}},
        {"$and": [{"year": 2023}, {"draft": False}]},
        {"$or": [{"year": 1}, {"draft": False}]},
        {"$not": {"year": 1}},
        {"year": {"$not": {"$gt": 2023}}},
        {"missing": {"$not": {"$eq": 1}}},
        {"year": 2023, "title": {"$contains": "Pump"}},
        {"year": np.int64(2023)},
        {"year": {"$between": (np.float32(2022.5), np.int64(2023))}},
        {"draft": np.bool_(False)},
        {"title": {"$contains": ""}},
        {"note": {"$in": [None]}},
        {"year": {"$ne": None}},
        {"seen": "2024-03-01T14:00+02:00"},
        {"$not": {"$or": [{"year": 1}, {"$not": {"draft": False}}]}},
        {"big": {"$gt": 2**53}},
        {"big": 2**53 + 1},
        {"nan": {"$ne": 0}},
        {"nan": {"$exists": True}},
    ],
)
def test_these_pass(condition: dict[str, Any]) -> None:
    assert parse_filter(condition).matches(CHUNK)


@pytest.mark.parametrize(
    "condition",
    [
        {"year": 2022},
        {"year": "2023"},
        {"draft": 0},
        {"year": True},
        {"missing": 1},
        {"missing": None},
        {"missing": {"$ne": 1}},
        {"missing": {"$nin": [1]}},
        {"missing": {"$gt": 0}},
        {"missing": {"$exists": True}},
        {"note": {"$gt": 0}},
        {"note": {"$ne": None}},
        {"year": None},
        {"title": {"$gt": 5}},
        {"year": {"$lt": "3000"}},
        {"title": {"$contains": "MANUAL"}},
        {"tags": {"$ne": "pump"}},
        {"tags": {"$contains": "pum"}},
        {"date": {"$gt": "2024-03-01"}},
        {"author.missing": 1},
        {"$not": {"year": 2023}},
        {"$and": [{"year": 2023}, {"draft": True}]},
        {"year": {"$in": []}},
        {"$not": {}},
        {"missing": {"$in": [None]}},
        {"missing": {"$ne": None}},
        {"author.missing": None},
        {"year": {"$between": [2000, "2024-01-01"]}},
        {"year": {"$between": [2024, 2022]}},
        {"date": {"$between": ["2024-03-02", "2024-02-01"]}},
        {"title": {"$between": ["A", "2030-01-01"]}},
        {"big": float(2**53)},
        {"big": {"$lte": 2**53}},
        {"nan": {"$between": [float("-inf"), float("inf")]}},
        {"nan": 0},
    ],
)
def test_these_do_not_pass(condition: dict[str, Any]) -> None:
    assert not parse_filter(condition).matches(CHUNK)


def nested(key: str, times: int) -> dict[str, Any]:
    """A filter inside a filter inside a filter."""
    result: dict[str, Any] = {"a": 1}
    for _ in range(times):
        result = {key: [result] if key == "$and" else result}
    return result


@pytest.mark.parametrize(
    ("condition", "path"),
    [
        ({"year": {"$near": 3}}, r"filter\.year\.\$near: unknown operator"),
        ({"$and": [{"a": 1}, {"b": {"$between": [1]}}]}, r"filter\.\$and\[1\]\.b\.\$between"),
        ({"$or": {"a": 1}}, r"filter\.\$or: expected a list"),
        ({"$or": []}, r"filter\.\$or: expected a list of one filter or more"),
        ({"$xor": []}, r"filter\.\$xor"),
        ({"$not": 3}, r"filter\.\$not: expected an object"),
        ({"a": {"$in": "abc"}}, r"filter\.a\.\$in: expected a list"),
        ({"a": {"$gt": None}}, r"filter\.a\.\$gt: only numbers, dates and strings"),
        ({"a": {"$gt": True}}, r"filter\.a\.\$gt"),
        ({"a": {"$exists": "yes"}}, r"filter\.a\.\$exists: expected true or false"),
        ({"a": float("nan")}, r"filter\.a: NaN"),
        ({"a": {"$in": [object()]}}, r"filter\.a\.\$in\[0\]"),
        ({"a": {"$gt": 1, "x": 2}}, r"filter\.a\.x: unknown operator"),
        ([1], r"filter: expected an object"),
        ({"$not": {"a": {"$in": [1, {2}]}}}, r"filter\.\$not\.a\.\$in\[1\]"),
        ({"a": {"$between": [1, None]}}, r"filter\.a\.\$between\[1\]: only numbers"),
        ({"a": {"$between": [float("nan"), 1]}}, r"filter\.a\.\$between\[0\]: NaN"),
        ({"$and": [{"a": 1}, {"$or": []}]}, r"filter\.\$and\[1\]\.\$or: expected a list of one filter or more"),
        (nested("$not", 5000), r"filter\.\$not\.\$not.*nested more than 100 levels"),
        (nested("$and", 5000), r"filter\.\$and\[0\].*nested more than 100 levels"),
        (nested("a", 5000), r"filter\.a.*nested more than 100 levels"),
    ],
)
def test_a_fault_is_named_by_its_path(condition: Any, path: str) -> None:
    with pytest.raises(ConfigError, match=path):
        parse_filter(condition)


def test_every_reachable_field_is_listed_with_its_value() -> None:
    assert dict(flatten({"a": 1, "b": {"c": 2, "d": {"e": 3}}})) == {
        "a": 1,
        "b": {"c": 2, "d": {"e": 3}},
        "b.c": 2,
        "b.d": {"e": 3},
        "b.d.e": 3,
    }


def test_a_key_with_a_dot_wins_over_the_way_through_it() -> None:
    metadata = {"a.b": 1, "a": {"b": 2}}
    assert parse_filter({"a.b": 1}).matches(metadata)
    assert dict(flatten(metadata))["a.b"] == 1


def test_the_fields_of_a_filter_are_known() -> None:
    assert parse_filter({"$or": [{"a": 1}, {"$not": {"b.c": 2}}]}).fields() == {"a", "b.c"}


@pytest.mark.parametrize(
    "metadata", [{"a.b": {"c": 1}}, {"a": {"b.c": {"d": 1}}}, {"a": {"b": 1}, "a.b": {"c": 2}}, {"a": {"b": {"c": 1}}}]
)
def test_what_flatten_gives_is_what_lookup_reaches(metadata: dict[str, Any]) -> None:
    flat = dict(flatten(metadata))
    assert {field: lookup(metadata, field) for field in flat} == flat


def test_a_key_that_is_no_string_is_flattened_as_it_is_stored() -> None:
    assert dict(flatten({1: {2: "x"}})) == {"1": {2: "x"}, "1.2": "x"}  # type: ignore[dict-item]


def test_a_filter_on_values_that_were_never_stored_sees_them_as_they_would_be() -> None:
    assert parse_filter({"n": {"$gt": 2}, "path": "a/b"}).matches({"n": np.int64(3), "path": PurePosixPath("a/b")})
    assert parse_filter({"path": PurePosixPath("a/b")}).matches({"path": "a/b"})
