"""Numbers that say one thing together, each compared as one, and the parts that a rounder claim may give."""

from __future__ import annotations

import pytest

from rag_app.verify.quantities import quantities_of, says


def only(text: str):
    (quantity,) = quantities_of(text)
    return quantity


@pytest.mark.parametrize(
    ("text", "values", "dimension"),
    [
        ("8 minutes and 20 seconds", (8 * 60 + 20,), "time"),
        ("8 Minuten und 20 Sekunden", (500,), "time"),
        ("5 feet 11 inches tall", (5 * 0.3048 + 11 * 0.0254,), "length"),
        ("one in five adults", (100 / 5,), "percent"),
        ("One out of every four", (25,), "percent"),
        ("3 out of 10 people", (30,), "percent"),
        ("two-thirds of the vote", (200 / 3,), "percent"),
        ("a third of it", (100 / 3,), "percent"),
    ],
)
def test_neighbors_that_say_one_thing_are_one(text: str, values: tuple[float, ...], dimension: str) -> None:
    quantity = only(text)
    assert quantity.values == pytest.approx(values)
    assert quantity.dimension == dimension
    assert text[slice(*quantity.span)] == quantity.text


@pytest.mark.parametrize(
    "text",
    ["12 in 2019", "20 seconds and 8 minutes", "5 feet and 11 kilograms", "8 minutes; 20 seconds",
     "8 minutes, 90 seconds", "3 in 2"],
)  # fmt: skip
def test_neighbors_that_say_two_things_stay_two(text: str) -> None:
    assert len(quantities_of(text)) == 2


@pytest.mark.parametrize(
    ("claim", "source", "wanted"),
    [
        ("8 minutes", "8 minutes and 20 seconds", True),
        ("500 seconds", "8 minutes and 20 seconds", True),
        ("8 minutes and 20 seconds", "8 minutes", False),
        ("8 minutes and 20 seconds", "8 minutes and 30 seconds", False),
        ("20 %", "one in five", True),
        ("one in five", "20 percent", True),
        ("one in five", "25 percent", False),
        ("10-24 years", "24 years", False),
        ("10 years", "10-24 years", True),
    ],
)
def test_a_claim_may_give_a_part_and_not_more_than_the_source(claim: str, source: str, wanted: bool) -> None:
    assert says(quantities_of(claim)[0], quantities_of(source)[0]) is wanted


def test_both_ends_of_a_range_have_its_unit() -> None:
    assert [(q.values, q.dimension) for q in quantities_of("from 5 to 10 km")] == [
        ((5000.0,), "length"),
        ((10_000.0,), "length"),
    ]
