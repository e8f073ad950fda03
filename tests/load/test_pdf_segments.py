from __future__ import annotations

import pytest

from rag_app.load.pdf_segments import Frame, Segment, page_turn, upright


@pytest.mark.parametrize(
    ("rotation", "shown"),
    [(0, (10, 60, 30, 80)), (90, (20, 10, 40, 30)), (180, (170, 20, 190, 40)), (270, (60, 170, 80, 190))],
)
def test_a_box_is_given_as_the_page_is_shown(rotation: int, shown: tuple[float, ...]) -> None:
    # A page 200 wide and 100 high whose corner is at (5, 7); the box is 20 by 20, 10 from the left and 20 from below.
    frame = Frame(5, 7, 200, 100, rotation)
    assert frame.shown((15, 27, 35, 47)) == shown


def test_text_in_every_direction_is_laid_level() -> None:
    up = [upright((10, 20, 14, 30), 90), upright((10, 32, 14, 40), 90)]  # the second word is written above the first
    assert up[0][2] < up[1][0]
    down = [upright((10, 32, 14, 40), 270), upright((10, 20, 14, 30), 270)]
    assert down[0][2] < down[1][0]
    over = [upright((30, 20, 40, 24), 180), upright((10, 20, 20, 24), 180)]
    assert over[0][2] < over[1][0]


def test_the_direction_of_a_page_is_that_of_most_of_its_text() -> None:
    box = (0.0, 0.0, 1.0, 1.0)
    assert page_turn([Segment("short", *box, box, 1, 0), Segment("much longer text", *box, box, 1, 90)]) == 90
    assert page_turn([]) == 0
