from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.load.pdf_order import reading_order
from rag_app.load.pdf_segments import Segment


def segment(text: str, x: float, y: float, width: float = 0, size: float = 10) -> Segment:
    box = (x, y, x + (width or 5 * len(text)), y + size)
    return Segment(text, *box, box, size)


def words(segments: list[Segment]) -> list[str]:
    return [line.text for block in reading_order(segments) for line in block]


boxes = st.builds(
    segment,
    st.text("ab1 ", min_size=1, max_size=40),
    st.integers(0, 500),
    st.integers(0, 700),
    st.integers(5, 300),
    st.integers(6, 20),
)


@settings(max_examples=60)
@given(st.lists(boxes, max_size=25))
def test_every_segment_is_read_once(segments: list[Segment]) -> None:
    read = [part for block in reading_order(segments) for line in block for part in line.segments]
    assert Counter(map(id, read)) == Counter(map(id, segments))


COLUMNS = [
    segment(f"{side} and long enough to be text {n}", x, y + 12 * n, 200)
    for side, x, y in (("Left", 50, 100), ("Right", 300, 105))
    for n in range(4)
]


@given(st.permutations(COLUMNS))
def test_the_order_of_the_file_does_not_matter(segments: list[Segment]) -> None:
    assert [line.split()[0] for line in words(list(segments))] == ["Left"] * 4 + ["Right"] * 4


def test_a_line_over_both_columns_separates_what_is_above_from_what_is_below() -> None:
    heights = (100, 112, 124, 200, 212, 224)
    left = [segment(f"Left column with running text {y}", 50, y, 200) for y in heights]
    right = [segment(f"Right column with running text {y}", 300, y, 200) for y in heights]
    middle = segment("A heading across the whole width of the page", 50, 160, 450)
    order = words([*left, middle, *right])
    assert [line.split()[0] for line in order] == ["Left"] * 3 + ["Right"] * 3 + ["A"] + ["Left"] * 3 + ["Right"] * 3


def test_a_superscript_stays_in_its_line() -> None:
    assert words([segment("energy is mc", 50, 100), segment("2", 111, 97, 4, 6), segment("below", 50, 114)]) == [
        "energy is mc 2",
        "below",
    ]


def test_columns_of_arabic_are_read_from_the_right() -> None:
    text = "هذا سطر طويل من النص العربي رقم"
    left = [segment(text + " ب", 50, 100 + 12 * n, 200) for n in range(4)]
    right = [segment(text + " ا", 300, 100 + 12 * n, 200) for n in range(4)]
    assert words([*left, *right])[0].endswith("ا")


def test_no_segments_no_blocks() -> None:
    assert reading_order([]) == []
