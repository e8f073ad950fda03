"""Children are found, parents are read."""

from __future__ import annotations

from typing import Any

import pytest

from rag_app.expand import ParentExpander, WindowExpander


def test_two_children_of_one_parent_become_one_passage(index: Any, chunk: Any, text: str) -> None:
    parent = [0, 48]
    found = ParentExpander(index=index).expand([chunk(16, 33, parent=parent), chunk(34, 48, parent=parent)])
    assert [document.page_content for document in found] == [text[0:48]]
    assert found[0].metadata["anchors"] == [[16, 33], [34, 48]]
    removal = found.trace.removal("d:34-48")
    assert removal is not None
    assert (removal.rule, removal.detail) == ("merged", "its text is in d:16-33")


def test_a_chunk_without_a_parent_stays_as_it_is(index: Any, chunk: Any) -> None:
    assert ParentExpander(index=index).expand([chunk(16, 33)])[0].page_content == "Second one there."


@pytest.mark.parametrize("noted", ["Guide", [1], [5, 2], [1, 2, 3], {"a": 1}, [True, 4], 7])
def test_a_parent_that_is_no_span_is_a_persons_own_key(index: Any, chunk: Any, noted: object) -> None:
    assert ParentExpander(index=index).expand([chunk(16, 33, parent=noted)])[0].page_content == "Second one there."
    window = WindowExpander(index=index, sentences=0)
    assert window.expand([chunk(16, 33, window=noted)])[0].page_content == "Second one there."
