from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_app.load.parsed import Parsed, TextBuilder, clean, normalized

words = st.text(st.sampled_from("abe\u0301 \u00ad\r\n\u2028\x00\ufeff"), max_size=12)


@given(st.lists(st.tuples(st.sampled_from(["block", "heading", "page"]), words), max_size=8))
def test_headings_and_pages_keep_their_places_through_normalization(steps: list[tuple[str, str]]) -> None:
    builder = TextBuilder()
    for kind, text in steps:
        if kind == "block":
            builder.block(text)
        elif kind == "heading":
            builder.heading(1, text)
        else:
            builder.page()
    parsed = normalized(builder.build("text"))
    assert parsed.text == parsed.text.strip()
    assert "\u00ad" not in parsed.text
    for start, _, title in parsed.headings:
        assert parsed.text[start:].startswith(title)
    ends = [0]
    for start, end, _ in parsed.pages:
        assert ends[-1] <= start <= end <= len(parsed.text)
        ends.append(end)
    assert len(parsed.pages) == sum(kind == "page" for kind, _ in steps)


def test_boxes_move_with_their_text_and_vanish_with_it() -> None:
    parsed = Parsed("  e\u0301a \x00", "pdf", boxes=((2, 5, 1, 0, 0, 9, 9), (6, 7, 1, 0, 0, 9, 9)))
    result = normalized(parsed)
    assert result.text == "\u00e9a"
    assert [box[:2] for box in result.boxes] == [(0, 2)]


def test_clean_makes_one_line() -> None:
    assert clean(" a\r\n\tb\x00 ") == "a b"
