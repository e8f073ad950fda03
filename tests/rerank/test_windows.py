"""Windows cover the text and fit the model."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.rerank.windows import best, text_windows


def words(text: str) -> int:
    return len(text.split())


def test_a_text_that_fits_is_its_own_window() -> None:
    assert text_windows("a short text", words, 10) == ["a short text"]
    assert text_windows("a text of any length", words, None) == ["a text of any length"]


def test_a_blank_text_has_no_window() -> None:
    assert text_windows(" \n", words, 10) == []


def test_windows_overlap_so_that_no_passage_is_cut_in_all_of_them() -> None:
    text = " ".join(f"word{i}" for i in range(100))
    windows = text_windows(text, words, 20)
    assert all(words(window) <= 20 for window in windows)
    assert windows[1].split()[0] in windows[0]


@given(st.text("ab \n", min_size=1, max_size=400), st.integers(2, 30))
@settings(max_examples=60)
def test_every_word_stands_in_a_window(text: str, size: int) -> None:
    joined = " ".join(text_windows(text, words, size))
    assert all(word in joined for word in text.split() if len(word) < size)


def test_a_text_without_spaces_is_cut_by_characters() -> None:
    text = "".join(chr(0x4E00 + i) for i in range(300))
    windows = text_windows(text, len, 50)
    assert all(len(window) <= 50 for window in windows)
    assert {c for window in windows for c in window} == set(text)


def test_the_best_window_counts_and_nan_in_any_of_them_is_not_passed_over() -> None:
    assert best([0.1, 0.9, 0.3]) == 0.9
    assert best([]) == 0.0
    for place in range(3):
        scores = [0.1, 0.9, 0.3]
        scores[place] = math.nan
        assert math.isnan(best(scores))
