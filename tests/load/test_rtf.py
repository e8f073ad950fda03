from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_app.load.parsed import Parsed


@pytest.mark.docs
def test_text_letters_and_facts_are_read(parse: Callable[..., Parsed]) -> None:
    data = rb"{\rtf1\ansi\ansicpg1252{\info{\title A title}{\author A. Writer}} Gr\'f6\'dfer\par \u8364? five\par}"
    parsed = parse(data, "a.rtf")
    assert parsed.text == "Größer\n€ five"
    assert (parsed.metadata["title"], parsed.metadata["author"]) == ("A title", "A. Writer")
