"""Numbers with units, scale words, precision, and the decimal forms of several languages."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.verify import Verifier
from rag_app.verify.quantities import quantities_of, same_value, says


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
        ("two and a half million votes", "2,480,000 votes"),
        ("2½ hours", "150 minutes"),
        ("two dozen eggs", "24 eggs"),
        ("10 000 personnes", "10.000 Personen"),
        ("1\u2009234\u2009567 km", "1,234,567 km"),
        ("zwölf Millionen Menschen", "12 million people"),
        ("2,5 Milliarden Euro", "€2.5 billion"),
        ("quatre-vingt-dix pour cent", "90 %"),
        ("veintiún años", "21 years"),
        ("٢٠٢٤", "2024"),
        ("۱۲٫۵ ٪", "12.5 %"),
        ("２０２４", "2024"),
        ("3万5千人", "35,000 people"),
        ("1億2000万円", "120,000,000"),
        ("1.2億", "120,000,000"),
        ("五百万元", "500万元"),
        ("百分之五", "5 %"),
        ("the 1990s", "in the 90s"),
        ("den 1990er Jahren", "the mid-1990s"),
        ("les années 1990", "the 1990s"),
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
        ("the 1990s", "the 1980s"),
        ("in 1990", "the 1990s"),
        ("two dozen eggs", "28 eggs"),
        ("one hundred seats", "50 seats"),
        ("half a million votes", "900,000 votes"),
        ("二十一人", "22人"),
    ],
)
def test_another_number_is_not_the_same(left: str, right: str) -> None:
    assert not same_value(first(left), first(right))


def test_a_year_is_a_year_and_a_count_of_things_is_not() -> None:
    assert first("in 1987 with nothing").dimension == "year"
    assert first("1987 singers came").dimension == "count"
    assert first("on 7 November 2018 and lapsed").text == "7"
    assert quantities_of("on 7 November 2018 and lapsed")[1].dimension == "year"


def test_a_decade_is_borne_out_by_a_year_in_it_and_no_year_by_a_decade() -> None:
    assert says(first("the 1990s"), first("in 1994"))
    assert not says(first("the 1990s"), first("in 2001"))
    assert not says(first("in 1994"), first("the 1990s"))


def test_a_year_of_a_reign_is_no_number_that_could_differ() -> None:
    assert quantities_of("令和5年に開通した。") == []
    assert [q.values for q in quantities_of("平成30年から2020年まで")] == [(2020.0,)]


@given(st.text(alphabet="0123456789.,' \u202f½%$€年月日万億千百〇一二五十٢۱２-–/sand mhinkgpercentdozen", max_size=30))
def test_any_text_is_read_and_its_spans_slice_back(text: str) -> None:
    found = quantities_of(text)
    assert all(a.span.end <= b.span.start for a, b in itertools.pairwise(found))
    for quantity in found:
        assert text[slice(*quantity.span)] == quantity.text
        assert all(math.isfinite(value) for value in quantity.values)


def test_every_quantity_is_the_slice_it_says_it_is() -> None:
    text = "About $1.2 million (or 12%) in 1987, for twenty-five singers over 2,5 km and 3,4,5."
    for quantity in quantities_of(text):
        assert text[slice(*quantity.span)] == quantity.text


@pytest.mark.parametrize(
    "number", ["9" * 400, "三" * 3000, "5 " + "billion " * 60, "五" + "兆" * 40, "1e5 " + "8" * 309]
)
def test_a_number_beyond_every_float_is_no_quantity_and_contradicts_nothing(number: str) -> None:
    text = f"The value is {number} units."
    for quantity in quantities_of(text):
        assert all(math.isfinite(value) for value in (*quantity.values, *quantity.parts, quantity.tolerance))
    assert Verifier().verify_claim(text, [text]).label == "supported"


def test_numbers_near_the_largest_float_stay_finite_beside_their_unit() -> None:
    for quantity in quantities_of(f"{'9' * 305}-{'9' * 300} years"):
        assert all(math.isfinite(value) for value in quantity.values)


@pytest.mark.parametrize(
    ("german", "english"),
    [
        ("36 Monate", "36 months"),
        ("3 Tage", "3 days"),
        ("10 Jahre", "10 years"),
        ("5 Stunden", "300 minutes"),
        ("5 Gramme", "5 grams"),
        ("5 Prozentpunkte", "5 percentage points"),
        ("5 Prozentpunkten", "5 percentage points"),
    ],
)
def test_a_unit_is_known_in_the_german_plural(german: str, english: str) -> None:
    assert same_value(first(german), first(english))
    assert first(german).dimension == first(english).dimension != "count"


@pytest.mark.parametrize("text", ["5 he said", "10 mine workers", "24 are here", "3 ante", "7 inne"])
def test_a_word_in_e_is_no_short_unit(text: str) -> None:
    assert first(text).dimension == "count"


@pytest.mark.parametrize(
    ("claim", "source", "label"),
    [
        ("Version 1.10 was released in spring.", "Version 1.1 was released in spring.", "contradicted"),
        ("Version 1.10 was released in spring.", "Version 1.10 was released in spring.", "supported"),
        ("The driver v1.10 was released in spring.", "The driver v1.1 was released in spring.", "contradicted"),
        ("The driver v1.10 was released in spring.", "Driver version 1.10 was released in spring.", "supported"),
        ("Release 2.50 fixes the bug in the parser.", "Release 2.5 fixes the bug in the parser.", "contradicted"),
        ("Version 2.4.1 was released in spring.", "Version 2.4.2 was released in spring.", "contradicted"),
        ("Version 2.4.1 was released in spring.", "Version 2.4.1 was released in spring.", "supported"),
        ("Version 1.10 was released in spring.", "The release of spring was 1.10.", "supported"),
        ("They release 2.50 tonnes of sand.", "They release 2.5 tonnes of sand.", "supported"),
        ("They release 12 albums a year.", "They release twelve albums a year.", "supported"),
    ],
)
def test_the_number_of_a_version_is_a_name(claim: str, source: str, label: str) -> None:
    assert Verifier().verify_claim(claim, [source]).label == label


@pytest.mark.parametrize(("ours", "theirs"), [("percent", "percentage points"), ("percentage points", "%")])
def test_percent_and_percentage_points_are_rivals(ours: str, theirs: str) -> None:
    verdict = Verifier().verify_claim(f"Sales rose by 5 {ours}.", [f"Sales rose by 5 {theirs}."])
    failed = [check for check in verdict.checks if check.outcome == "fail"]
    assert [check.name for check in failed] == ["number"]
    assert (failed[0].claim_value, failed[0].source_value) == (f"5 {ours}", f"5 {theirs}")
    assert verdict.label == "contradicted"
