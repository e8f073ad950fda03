"""Records: JSON both ways, and where a character stands."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.answer import Answer, Passage
from rag_app.trace import Removal, RetrievalTrace
from rag_app.types import (
    Box,
    Check,
    Citation,
    Claim,
    Evidence,
    Heading,
    Hit,
    Layout,
    LoadedDocument,
    Page,
    Span,
    Verdict,
    as_span,
    from_json,
    make_chunk_id,
    make_doc_id,
    read_chunk_id,
    to_json,
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
spans = st.builds(Span, st.integers(0, 99), st.integers(100, 200))
scores = st.floats(0, 1, allow_nan=False)
citations = st.builds(
    Citation,
    marker=st.integers(1, 9),
    chunk_id=text,
    source=text,
    page=st.none() | st.integers(1, 9),
    section_path=st.lists(text, max_size=2).map(tuple),
    span=spans,
    quote=text,
    boxes=st.just(((1, 0.0, 1.0, 2.0, 3.5),)) | st.just(()),
)
claims = st.builds(Claim, text=text, span=spans, citations=st.lists(st.integers(1, 9), max_size=2).map(tuple))
verdicts = st.builds(
    Verdict,
    claim=claims,
    label=st.just("supported"),
    score=scores,
    level=st.just("lexical"),
    evidence=st.just((Evidence("a.md", 0, 4, "text"),)),
    checks=st.just((Check("numbers", "fail", "3", "4", Span(0, 1), Span(2, 3)),)),
)
traces = st.builds(
    RetrievalTrace,
    question=text,
    rankings=st.dictionaries(text, st.just((Hit("a:0-1", 0.5, 1),)), max_size=2),
    removed=st.just((Removal("b:0-1", "rerank", "below threshold", ".2 < .3"),)),
)
answers = st.builds(
    Answer,
    question=text,
    text=text,
    citations=st.lists(citations, max_size=2).map(tuple),
    verdicts=st.lists(verdicts, max_size=2).map(tuple),
    trace=traces,
    evidence=st.just((Passage(1, "a:0-4", "a.md", 0, 4, "text", section_path=("A", "B")),)),
    confidence=st.none() | scores,
)


@given(answers)
def test_an_answer_survives_json_and_gives_the_same_bytes(answer: Answer) -> None:
    again = Answer.from_json(answer.to_json())
    assert again == answer
    assert again.to_json() == answer.to_json()


def test_unknown_fields_of_a_later_version_are_left_aside() -> None:
    assert from_json(Hit, {**to_json(Hit("a", 1.0, 1)), "later": True}) == Hit("a", 1.0, 1)


def test_two_files_with_equal_text_are_two_documents() -> None:
    assert make_doc_id("a.txt", "same") != make_doc_id("b.txt", "same")
    assert make_doc_id("a.txt", "same") == make_doc_id("a.txt", "same")
    assert make_chunk_id("d", Span(3, 9)) == "d:3-9"
    assert [Span(3, 9).clip(Span(*to)) for to in ((0, 5), (4, 6), (9, 12), (0, 2))] == [(3, 5), (4, 6), (9, 9), (3, 3)]
    assert read_chunk_id("d:3-9") == ("d", Span(3, 9))
    assert read_chunk_id("a:b:3-9") == ("a:b", Span(3, 9))
    assert [read_chunk_id(foreign) for foreign in ("", "7", "d:3", ":3-9", "d:3-", "d:-3-9")] == [None] * 6


def test_a_layout_knows_page_section_and_rectangles_of_a_place() -> None:
    layout = Layout(
        pages=(Page(start=0, end=10), Page(start=10, end=30)),
        headings=(
            Heading(start=0, level=1, title="A"),
            Heading(start=5, level=2, title="A.1"),
            Heading(start=12, level=1, title="B"),
        ),
        boxes=(
            Box(start=0, end=4, page=1, x0=0, y0=0, x1=9, y1=9),
            Box(start=4, end=9, page=1, x0=0, y0=9, x1=9, y1=18),
        ),
    )
    document = LoadedDocument(page_content="x" * 30, id="d", layout=layout)
    assert [layout.page_at(offset) for offset in (0, 9, 10, 29)] == [1, 1, 2, 2]
    assert [layout.section_path_at(offset) for offset in (0, 6, 13)] == [["A"], ["A", "A.1"], ["B"]]
    assert [box.start for box in document.boxes(Span(3, 5))] == [0, 4]
    assert document.boxes(Span(9, 10)) == []
    assert Layout().page_at(3) is None


@given(spans, st.integers(-50, 50))
def test_a_shifted_span_keeps_its_length(span: Span, by: int) -> None:
    shifted = span.shift(by)
    assert shifted.end - shifted.start == span.end - span.start


@pytest.mark.parametrize(
    ("a", "b", "answer"), [((0, 2), (2, 4), False), ((0, 3), (2, 4), True), ((1, 2), (0, 9), True)]
)
def test_spans_overlap_when_they_share_a_character(a: tuple[int, int], b: tuple[int, int], answer: bool) -> None:
    assert Span(*a).overlaps(Span(*b)) is answer


def test_whatever_a_person_attached_becomes_json() -> None:
    attached = {
        "day": datetime.date(2024, 1, 2),
        "set": {3, 1},
        "nan": float("nan"),
        "one": np.float32(0.5),
        "many": np.array([1.0, np.inf]),
        "path": Path("a/b"),
    }
    assert to_json(attached) == {
        "day": "2024-01-02", "set": [1, 3], "nan": None, "one": 0.5, "many": [1.0, None], "path": "a/b"
    }  # fmt: skip
    json.dumps(to_json({"any": object(), "bytes": b"x"}), allow_nan=False)


@pytest.mark.parametrize("value", ["Guide", None, 3, [1], [1, 2, 3], [2, 1], [-1, 2], [True, 2], {"a": 1}])
def test_only_two_ordered_places_are_a_span(value: object) -> None:
    assert as_span(value) is None
    assert as_span([1, 2]) == Span(1, 2)
