from __future__ import annotations

from collections.abc import Callable

from rag_app.load.parsed import Parsed

PAGE = """=====
Title
=====

:Author: A. Writer

Part
====

Text with ==== inside.

Chapter
-------

* item

::

    code
    ----

Next part
=========
"""


def test_adorned_titles_become_headings_by_the_order_of_their_marks(parse: Callable[..., Parsed]) -> None:
    parsed = parse(PAGE, "a.rst")
    assert [(level, title) for _, level, title in parsed.headings] == [
        (1, "Title"),
        (2, "Part"),
        (3, "Chapter"),
        (2, "Next part"),
    ]
    assert parsed.text[parsed.headings[1][0] :].startswith("Part\n====")
    assert parsed.metadata["title"] == "Title"
    assert parsed.metadata["author"] == "A. Writer"
    assert parsed.text == PAGE.strip()
