"""A sentence is read with its neighbors."""

from __future__ import annotations

from typing import Any

from rag_app.expand import WindowExpander


def test_overlapping_windows_are_joined(index: Any, chunk: Any, text: str) -> None:
    found = WindowExpander(sentences=1, index=index).expand([chunk(16, 33), chunk(49, 64)])
    assert [document.page_content for document in found] == [text[0:79]]


def test_the_splitters_own_window_is_taken(index: Any, chunk: Any, text: str) -> None:
    (found,) = WindowExpander(index=index).expand([chunk(16, 33, window=[16, 64])])
    assert found.page_content == text[16:64]
