"""Metadata by columns: built from rows, merged from several segments."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_app.index.local.columns import Columns, build_columns, merge_columns

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2),
    st.floats(0.5, 1.5),
    st.sampled_from(["", "a", "é", "2024-05-01"]),
    st.just(dt.date(2024, 5, 1)),
    st.lists(st.sampled_from("ab"), max_size=2),
    st.dictionaries(st.sampled_from("xy"), st.integers(0, 1), max_size=2),
)
rows = st.lists(st.dictionaries(st.sampled_from(["a", "b", "a.x", "embed_text"]), values, max_size=3), max_size=6)


def test_a_field_has_its_values_in_order_of_their_first_rows() -> None:
    arrays, fields = build_columns([{"a": 2}, {"b": 1.0}, {"a": 1}, {"a": 2, "embed_text": "no field"}])
    assert fields == [{"name": "a", "kinds": ["number"]}, {"name": "b", "kinds": ["number"]}]
    assert bytes(arrays["column0.values"]) == b"21"
    assert arrays["column0.rows"].tolist() == [0, 3, 2]
    assert arrays["column0.indptr"].tolist() == [0, 2, 3]


@given(st.lists(rows, max_size=3), st.randoms(use_true_random=False))
def test_merged_columns_are_those_of_a_build_of_the_live_rows(groups: list[list[dict[str, Any]]], chance: Any) -> None:
    places = [(p, row) for p, group in enumerate(groups) for row in range(len(group))]
    chance.shuffle(places)
    live = places[: len(places) * 2 // 3]
    parts = []
    for p, group in enumerate(groups):
        moved = np.full(len(group), -1, dtype=np.int64)
        for new, (q, row) in enumerate(live):
            if p == q:
                moved[row] = new
        parts.append((Columns(*build_columns(group), len(group)), moved))
    merged, fields = merge_columns(parts)
    expected, expected_fields = build_columns([groups[p][row] for p, row in live])
    assert fields == expected_fields
    assert {name: (a.dtype, a.tolist()) for name, a in merged.items()} == {
        name: (a.dtype, a.tolist()) for name, a in expected.items()
    }
