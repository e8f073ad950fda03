"""Numbers with units, scale words, precision, and the decimal forms of several languages."""

from __future__ import annotations

import pytest

from rag_app.verify.quantities import quantities_of, same_value


def first(text: str):
    return quantities_of(text)[0]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1.2 million people", "1,184,320 people"),
        ("2,500 metres", "2.5 kilometres"),
        ("1.184.320 Euro", "1,184,320 euros"),
        ("2,5 Kilometer", "2.5 km"),
        ("1\u202f234,5 km", "1234.5 km"),
        ("twenty-five singers", "25 singers"),
        ("about 100 boats", "97 boats"),
        ("$3 billion", "$3,000,000,000"),
        ("3.6億", "360,000,000"),
        ("90 minutes", "1.5 hours"),
        ("half a million votes", "500,000 votes"),
    ],
)
def test_the_same_number_in_another_form(left: str, right: str) -> None:
    assert same_value(first(left), first(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("12 %", "15 %"),
        ("3 percentage points", "3 percent"),
        ("2.5 kilometres", "2.5 metres"),
        ("25 singers", "26 singers"),
        ("1.2 million", "1.3 million"),
        ("in 1987", "in 1988"),
    ],
)
def test_another_number_is_not_the_same(left: str, right: str) -> None:
    assert not same_value(first(left), first(right))


def test_a_year_is_a_year_and_a_count_of_things_is_not() -> None:
    assert first("in 1987 with nothing").dimension == "year"
    assert first("1987 singers came").dimension == "count"
    assert first("on 7 November 2018 and lapsed").text == "7"
    assert quantities_of("on 7 November 2018 and lapsed")[1].dimension == "year"


def test_every_quantity_is_the_slice_it_says_it_is() -> None:
    text = "About $1.2 million (or 12%) in 1987, for twenty-five singers over 2,5 km and 3,4,5."
    for quantity in quantities_of(text):
        assert text[slice(*quantity.span)] == quantity.text
