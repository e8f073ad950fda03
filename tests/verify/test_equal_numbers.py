"""Numbers of a claim as its source writes them, so that support sees what the checks see."""

from __future__ import annotations

import pytest

from rag_app.verify.equal_numbers import words_as_written
from rag_app.verify.quantities import quantities_of
from rag_app.verify.quantity import same_value
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import support_of
from rag_app.verify.words import words_of

DAM = (
    "The dam above Tarnfield was finished in 1958. It holds 5,000,000 cubic meters of water. It was built by 5 people."
)
STAUSEE = "Die Talsperre wurde 1958 fertig. Sie fasst 5.000.000 Kubikmeter Wasser. Sie hat 25 Tore."
HAN = "这座大坝于1958年建成。大坝蓄水5,000,000立方米。"

SAME = [
    ("It holds five million cubic meters of water.", "It holds 5,000,000 cubic meters of water.", DAM),
    ("It holds 5 million cubic meters of water.", "It holds 5,000,000 cubic meters of water.", DAM),
    ("Sie fasst fünf Millionen Kubikmeter Wasser.", "Sie fasst 5.000.000 Kubikmeter Wasser.", STAUSEE),
    ("Die Talsperre hat fünfundzwanzig Tore.", "Die Talsperre hat 25 Tore.", STAUSEE),
    ("大坝蓄水五百万立方米。", "大坝蓄水5,000,000立方米。", HAN),
    ("大坝蓄水500万立方米。", "大坝蓄水5,000,000立方米。", HAN),
    ("Plans for 500 houses were approved.", "Plans for five hundred houses were approved.",
     "Five hundred houses: the plans were approved."),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "verbatim", "source"), SAME)
def test_a_number_supports_however_it_is_written(claim: str, verbatim: str, source: str) -> None:
    read = IndexedSource(source)
    assert support_of(claim, read).features == support_of(verbatim, read).features


@pytest.mark.parametrize(
    ("equal", "other", "source"),
    [
        ("It holds five million cubic meters of water.", "It holds six million cubic meters of water.", DAM),
        ("Die Talsperre hat fünfundzwanzig Tore.", "Die Talsperre hat sechsundzwanzig Tore.", STAUSEE),
        ("大坝蓄水五百万立方米。", "大坝蓄水六百万立方米。", HAN),
    ],
)
def test_another_number_in_words_is_missing_and_absent(equal: str, other: str, source: str) -> None:
    right, wrong = (support_of(claim, IndexedSource(source)) for claim in (equal, other))
    assert (right.features["numbers missing"], right.features["number absent"]) == (0.0, 0.0)
    assert (wrong.features["numbers missing"], wrong.features["number absent"]) == (1.0, 1.0)
    assert wrong.score < right.score


def stems(claim: str, source: str) -> list[str]:
    return [word.stem for word in words_as_written(claim, words_of(claim), IndexedSource(source))[0]]


def test_a_number_that_the_source_writes_like_the_claim_stays() -> None:
    source = "It holds 5 million liters, which are 5,000,000 liters."
    assert stems("5 million liters", source)[:2] == ["5", "million"]


def test_every_unit_with_an_equal_number_counts() -> None:
    source = IndexedSource("It holds 5 million liters. It is old. The plan says 5,000,000 liters.")
    _, found = words_as_written("5 million liters", words_of("5 million liters"), source)
    assert found["million"] == {0, 2}


def test_about_a_year_is_not_about_a_century() -> None:
    (near,), (far,), (about,) = (quantities_of(text) for text in ("in 1994", "in 1935", "around 1990"))
    assert same_value(about, near)
    assert not same_value(about, far)
