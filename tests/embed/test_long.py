"""Passages above the window: read in parts that fit, nothing lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.embed import HashingEmbedder
from rag_app.embed.long import window_parts


def _words(text: str) -> int:
    return len(text.split()) + 2


class Short(HashingEmbedder):
    """Reads six words."""

    @property
    def max_tokens(self) -> int | None:
        return 8

    def count_tokens(self, text: str) -> int:
        return _words(text)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab \n水", max_size=120), st.integers(4, 12))
def test_parts_fit_and_hold_every_word(text: str, window: int) -> None:
    count = lambda part: len(part) + 2 if " " not in part else _words(part)  # noqa: E731
    parts = window_parts(text, count, window)
    assert "".join("".join(part.split()) for part, _ in parts) == "".join(text.split())
    assert all(count(part) <= max(window, 3) for part, _ in parts)


def test_a_text_that_fits_is_one_part() -> None:
    assert window_parts("one two", _words, 4) == [("one two", 4)]
    assert window_parts("", _words, 4) == [("", 2)]


def test_what_stands_beyond_the_window_is_in_the_vector() -> None:
    same = "one two three four five six "
    pump, cats = Short().encode([same + "E-4012 pump", same + "different cats"])
    assert float(pump @ cats) < 0.999
    assert np.linalg.norm(pump) == pytest.approx(1, abs=1e-5)


def test_the_vector_is_the_mean_of_the_parts_weighted_by_their_tokens() -> None:
    text = "one two three four five six seven"
    long, short, first, rest = Short().encode([text, "one two", "one two three four five six", "seven"])
    mean = 8 * first + 3 * rest
    assert long == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert np.array_equal(short, HashingEmbedder().encode(["one two"])[0])


def test_a_query_is_never_read_in_parts() -> None:
    text = "one two three four five six seven"
    assert np.array_equal(Short().encode([text], query=True), HashingEmbedder().encode([text], query=True))
