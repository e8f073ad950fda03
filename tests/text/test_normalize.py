from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from rag_app.text.normalize import normalize, normalize_with_offsets

texts = st.text(
    st.one_of(st.sampled_from("ab \r\n\x0c\x00e\u0301\ufeff\u2028\u2029\u1100\u1161\ud800"), st.characters()),
    max_size=60,
)


def test_newlines_of_every_kind_become_one_kind() -> None:
    assert normalize("a\r\nb\rc\x0cd\u2028e\u2029f\x85g") == "a\nb\nc\nd\ne\n\nf\ng"


def test_controls_marks_and_surrogates_vanish_and_tabs_stay() -> None:
    assert normalize("\ufeffa\x00b\x1b\tc\ud800d") == "ab\tcd"


def test_accents_are_composed() -> None:
    assert normalize("e\u0301") == "\u00e9"


@given(texts)
def test_normalizing_twice_changes_nothing(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in once)


@given(texts, st.data())
def test_offsets_follow_their_places(text: str, data: st.DataObject) -> None:
    offsets = data.draw(st.lists(st.integers(0, len(text)), max_size=6))
    result, moved = normalize_with_offsets(text, offsets)
    assert result == normalize(text)
    assert [b for _, b in sorted(zip(offsets, moved, strict=True))] == sorted(moved)
    for before, after in zip(offsets, moved, strict=True):
        assert 0 <= after <= len(result)
        if before == 0:
            assert after == 0
        if before == len(text):
            assert after == len(result)


@given(st.lists(st.text(st.sampled_from("abe\u0301\u0308 "), max_size=10), max_size=5))
def test_a_line_keeps_its_start(lines: list[str]) -> None:
    text, starts = "", []
    for line in lines:
        starts.append(len(text))
        text += line + "\r\n"
    result, moved = normalize_with_offsets(text, starts)
    for line, start in zip(lines, moved, strict=True):
        assert result[start:].startswith(normalize(line) + "\n")
