"""Which numbers are names of versions."""

from __future__ import annotations

import pytest

from rag_app.verify.quantities import quantities_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("version 1.10.", ("version", "1.10")),
        ("versión 3", ("version", "3")),
        ("the v8 engine", ("version", "8")),
        ("version 2.4.1 m", ("version", "2.4.1")),
        ("Release 2.50 fixes", ("version", "2.50")),
        ("to release 12 albums", ("count", "albums")),
        ("release 1.5 million copies", ("count", "copies")),
        ("version 12 million", ("count", "")),
        ("Smith v. 5 others", ("count", "")),
    ],
)
def test_the_number_behind_a_word_for_versions_is_a_name(text: str, found: tuple[str, str]) -> None:
    assert [(quantity.dimension, quantity.noun) for quantity in quantities_of(text)] == [found]


def test_a_number_of_several_points_that_is_no_version_is_no_quantity() -> None:
    assert quantities_of("the section 2.4.1 of the code") == []
