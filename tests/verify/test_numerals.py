"""Numbers in words and in Han numerals: their values, their places, and words that only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.verify import Verifier
from rag_app.verify.numerals import german, han_value, numerals_of, plain_digits


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("two hundred and five boats", 205),
        ("two million three hundred thousand", 2_300_000),
        ("thirty-two thousand", 32_000),
        ("twenty-first", 21),
        ("nineteen eighty-four", 1984),
        ("two dozen", 24),
        ("zwölf Millionen", 12_000_000),
        ("fünfundzwanzig", 25),
        ("einundzwanzig", 21),
        ("zweihundertdreiundvierzigtausendfünfhundertelf", 200_000 + 43_000 + 511),
        ("dreißig", 30),
        ("quatre-vingt-dix", 4 * 20 + 10),
        ("quatre-vingt-dix-sept", 97),
        ("quatre-vingts", 80),
        ("soixante et onze", 71),
        ("deux cents", 200),
        ("cent vingt", 120),
        ("mille neuf cent quatre-vingt-quatre", 1984),
        ("veintiuno", 21),
        ("treinta y cinco", 35),
        ("dos mil", 2000),
        ("doscientos mil", 200_000),
        ("mil novecientos ochenta y cuatro", 1984),
        ("五百万", 5_000_000),
        ("三千二百", 3200),
        ("二十一", 21),
        ("一億二千万", 120_000_000),
        ("二〇二四", 2024),
    ],
)
def test_a_number_in_words_has_its_value_and_its_place(text: str, value: float) -> None:
    (numeral,) = numerals_of(text)
    assert numeral.value == value
    assert text.startswith(numeral.span.slice(text))


@pytest.mark.parametrize(
    "text",
    ["one", "once upon a time", "elf of the woods", "hundred", "millions of people", "the first", "統一された",
     "三四人", "万一の場合", "十分", "Grundstück", "verwundert", "a cent a piece", "sept"],
)  # fmt: skip
def test_a_word_that_only_looks_like_a_number_is_none(text: str) -> None:
    assert numerals_of(text) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("four or five", [4, 5]),
        ("six and seven", [6, 7]),
        ("hay once personas en la casa", [11]),
        ("五人と三人", [5, 3]),
    ],
)
def test_numbers_side_by_side_stay_apart(text: str, values: list[float]) -> None:
    assert [numeral.value for numeral in numerals_of(text)] == values


@given(st.integers(1, 99_999_999))
def test_han_numerals_are_read_as_they_are_written(number: int) -> None:
    assert han_value(_han(number)) == number


def _han(number: int) -> str:
    """Han numerals by the rule: a digit and its scale, thousands in groups of four."""
    high, low = divmod(number, 10_000)
    return (f"{_section(high)}万" if high else "") + _section(low)


def _section(number: int) -> str:
    digits = "零一二三四五六七八九"
    parts = [(number // 1000, "千"), (number // 100 % 10, "百"), (number // 10 % 10, "十"), (number % 10, "")]
    return "".join(digits[count] + scale for count, scale in parts if count)


def listed_in_order(words: str) -> list[str]:
    return words.split()


@given(st.integers(1, 999_999))
def test_german_numbers_are_read_as_they_are_written(number: int) -> None:
    assert german(_german(number)) == number


_SMALL = listed_in_order(
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
)
_TENS = listed_in_order("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")


def _german(number: int) -> str:
    if number >= 1000:
        return _german(number // 1000) + "tausend" + (_german(number % 1000) if number % 1000 else "")
    if number >= 100:
        return _SMALL[number // 100] + "hundert" + (_german(number % 100) if number % 100 else "")
    if number < 20:
        return _SMALL[number]
    unit = _SMALL[number % 10] + "und" if number % 10 else ""
    return unit + _TENS[number // 10 - 2]


@given(st.text(alphabet="0٢۱２१٫．％ab年万 ", max_size=20))
def test_digits_of_every_script_become_ascii_in_place(text: str) -> None:
    plain = plain_digits(text)
    assert len(plain) == len(text)
    assert all(char.isascii() for char in plain if char.isdecimal())


@given(st.text(alphabet="一二三四五六七八九十百千万億〇0123456789.,年月日 twoandfivehundred-", max_size=24))
def test_spans_are_in_order_and_slice_back(text: str) -> None:
    spans = [numeral.span for numeral in numerals_of(text)]
    assert spans == sorted(spans)
    assert all(span.slice(text) for span in spans)


def test_a_word_that_is_a_number_in_one_language_only_is_looked_for_as_a_word_too() -> None:
    text = "Title: Once Upon a Dream (Sleeping Beauty song)\nSection: Lana Del Rey version\nShe recorded it in January."
    verdict = Verifier().verify_claim(text.rpartition("\n")[0], [text])
    assert verdict.label == "supported"
