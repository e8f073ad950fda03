"""The place of evidence, whoever wrote its metadata."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document

from rag_app.cite.place import place_of, start_of
from rag_app.integrate import parse_citations
from rag_app.pipeline.chain import passage

TEXT = "The warranty is 24 months. It starts at delivery."


@pytest.mark.parametrize(
    ("metadata", "field", "value"),
    [
        ({"page": 3}, "page", 3),
        ({"page": 3.0}, "page", 3),
        ({"page": "12"}, "page", 12),
        ({"page": "iii"}, "page", None),
        ({"page": float("nan")}, "page", None),
        ({"page": float("inf")}, "page", None),
        ({"page": True}, "page", None),
        ({"page": [1]}, "page", None),
        ({"start_index": -1}, "start", 0),
        ({"start_index": None}, "start", 0),
        ({"start_index": "4"}, "start", 0),
        ({"start_index": 4}, "start", 4),
        ({"section_path": "Intro"}, "section_path", ("Intro",)),
        ({"section_path": ["A", None, 3]}, "section_path", ("A", "3")),
        ({"section_path": 5}, "section_path", ()),
        ({"title": 5}, "title", "5"),
        ({"source": None}, "source", ""),
        ({"id": "x"}, "chunk_id", "x"),
        ({}, "chunk_id", "7"),
    ],
)
def test_odd_metadata_is_read_as_far_as_it_makes_sense(metadata: dict[str, Any], field: str, value: object) -> None:
    assert getattr(place_of(Document(TEXT, metadata=metadata), 7), field) == value


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"start_index": -1},
        {"start_index": None, "end_index": None},
        {"start_index": 10, "end_index": 3},
        {"page": "iii", "section_path": "Intro", "title": 5, "source": None, "stages": "x"},
    ],
)
def test_a_citation_names_its_passage_and_its_quote_stands_there(metadata: dict[str, Any]) -> None:
    answer = parse_citations("The warranty is 24 months [1].", [Document(TEXT, metadata=metadata)])
    (citation,), (evidence,) = answer.citations, answer.evidence
    assert citation.chunk_id == evidence.chunk_id
    start, end = citation.span
    assert (
        evidence.text[start - evidence.start : end - evidence.start] == citation.quote == "The warranty is 24 months."
    )
    assert (evidence.start, evidence.end) == (evidence.start, evidence.start + len(TEXT))
    assert passage(1, Document(TEXT, metadata=metadata)) == evidence
    assert start_of(Document(TEXT, metadata=metadata)) == evidence.start
