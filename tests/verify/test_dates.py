"""Dates of a text, and what it takes for two of them to be in conflict."""

from __future__ import annotations

import pytest

from rag_app.verify.checks import run_checks
from rag_app.verify.dates import dates_of
from rag_app.verify.quantities import quantities_of, says
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import support_of


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("on 7 November 2018", (2018, 11, 7)),
        ("on November 7th, 2018", (2018, 11, 7)),
        ("on 2018-11-07", (2018, 11, 7)),
        ("am 7. November 2018", (2018, 11, 7)),
        ("le 7 novembre 2018", (2018, 11, 7)),
        ("el 7 de noviembre de 2018", (2018, 11, 7)),
        ("in Nov. 2018", (2018, 11, None)),
        ("on March 3", (None, 3, 3)),
        ("on 25.12.2018", (2018, 12, 25)),
        ("am 12.03.2021", (2021, 3, 12)),
        ("am 12. März 2021", (2021, 3, 12)),
        ("le 1er mai", (None, 5, 1)),
        ("2024年3月5日に", (2024, 3, 5)),
        ("二〇二四年三月五日", (2024, 3, 5)),
        ("２０２４年１１月", (2024, 11, None)),
        ("十二月二十一日", (None, 12, 21)),
        ("12/03/٢٠٢١", (2021, 3, 12)),
    ],
)
def test_dates_are_read_whole_or_in_part(text: str, parts: tuple[int | None, ...]) -> None:
    (date,) = dates_of(text)
    assert (date.year, date.month, date.day) == parts
    assert date.span.slice(text) in text


@pytest.mark.parametrize("text", ["13月5日", "3月", "令和5年", "五十日", "12/13/14", "99.99.2020"])
def test_what_cannot_be_a_date_is_none(text: str) -> None:
    assert dates_of(text) == []


def test_an_ambiguous_date_is_no_conflict_of_numbers_either() -> None:
    source = IndexedSource("The pier opened on 4 March 2018.")
    claim = "The pier opened on 3/4/2018."
    assert [c.outcome for c in run_checks(claim, source, support_of(claim, source))] == ["pass", "unknown"]


def test_a_month_alone_is_no_date_and_the_order_of_day_and_month_may_be_open() -> None:
    assert dates_of("It may march on in 2018.") == []
    assert dates_of("on 3/4/2018")[0].swapped


def outcome(claim: str, text: str) -> str:
    source = IndexedSource(text)
    (check,) = [c for c in run_checks(claim, source, support_of(claim, source)) if c.name == "date"]
    return check.outcome


@pytest.mark.parametrize(
    ("claim", "text", "wanted"),
    [
        ("The pier opened on 7 November 2018.", "The pier opened on November 7, 2018.", "pass"),
        ("The pier opened in November 2018.", "The pier opened on November 7, 2018.", "pass"),
        ("The pier opened on 7 November 2018.", "The pier opened in November 2018.", "unknown"),
        ("The pier opened on 8 November 2018.", "The pier opened on November 7, 2018.", "fail"),
        ("The pier opened on 7 November 2018.", "The pier opened on 7 December 2018.", "fail"),
        ("The pier opened on 3/4/2018.", "The pier opened on 4 March 2018.", "unknown"),
        ("The pier opened on 3/4/2018.", "The pier opened on 5 March 2018.", "fail"),
        ("The pier opened on 3/4/2018.", "The pier opened on 3/4/2018.", "pass"),
        ("The pier opened on 3/4/2018.", "The pier opened on 4/3/2018.", "unknown"),
        ("桥于2024年3月5日开通。", "桥于二〇二四年三月五日开通。", "pass"),
        ("桥于2024年3月5日开通。", "桥于2024年3月6日开通。", "fail"),
        ("The pier opened on 8 November 2018.", "Cats slept on 7 November 2018.", "unknown"),
    ],
)
def test_what_one_side_leaves_open_is_no_conflict(claim: str, text: str, wanted: str) -> None:
    assert outcome(claim, text) == wanted


@pytest.mark.parametrize(
    ("claim", "source", "wanted"),
    [
        ("at least 100 boats", "116 boats", True),
        ("more than 100 boats", "90 boats", False),
        ("up to 50 boats", "48 boats", True),
        ("up to 50 boats", "60 boats", False),
        ("at least 100 boats", "900 boats", False),
        ("at least 100 boats", "116 cars", False),
        ("100 boats", "116 boats", False),
    ],
)
def test_a_bound_is_borne_out_by_what_lies_inside_it(claim: str, source: str, wanted: bool) -> None:
    assert says(quantities_of(claim)[0], quantities_of(source)[0]) is wanted


def test_a_bare_number_is_compared_with_a_number_of_years_as_it_stands() -> None:
    assert says(quantities_of("at age 57")[0], quantities_of("only 57 years of age")[0])
    assert not says(quantities_of("5 meters")[0], quantities_of("5 years")[0])
