"""Neighbors become one passage."""

from __future__ import annotations

from typing import Any

from rag_app.expand import MergeExpander


def test_neighbors_within_the_gap_become_one_and_the_best_one_names_it(index: Any, chunk: Any, text: str) -> None:
    found = MergeExpander(gap=1, index=index).expand([chunk(34, 48), chunk(80, 102), chunk(16, 33)])
    assert [(document.id, document.page_content) for document in found] == [
        ("d:34-48", text[16:48]),
        ("d:80-102", text[80:102]),
    ]
    assert found[0].metadata["anchor"] == [34, 48]
