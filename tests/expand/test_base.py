"""Whatever expands: exact slices, no text twice, the anchor kept, a limit kept."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_app.expand import MergeExpander, NoExpander, ParentExpander, WindowExpander
from rag_app.expand.base import within
from rag_app.types import ConfigError, LoadedDocument, Span

TEXT = " ".join(f"Sentence number {n} stands here." for n in range(30))
spans = st.tuples(st.integers(0, len(TEXT) - 2), st.integers(1, 80)).map(
    lambda pair: (pair[0], min(len(TEXT), pair[0] + pair[1]))
)


class One:
    """An index with one document."""

    def document(self, doc_id: str) -> LoadedDocument:
        return LoadedDocument(id=doc_id, page_content=TEXT, metadata={"doc_id": doc_id})


@given(
    st.lists(spans, min_size=1, max_size=6, unique=True),
    st.sampled_from([MergeExpander(gap=20), WindowExpander(sentences=1), WindowExpander(max_characters=60)]),
)
@settings(max_examples=100, deadline=None)
def test_expanded_documents_are_slices_that_never_repeat_text(places: list[tuple[int, int]], expander: Any) -> None:
    chunks = [
        Document(id=f"d:{a}-{b}", page_content=TEXT[a:b], metadata={"doc_id": "d", "start_index": a, "end_index": b})
        for a, b in places
    ]
    before = [chunk.model_dump() for chunk in chunks]
    found = expander.model_copy(update={"index": One()}).expand(chunks)
    taken: list[Span] = []
    for document in found:
        span = Span(document.metadata["start_index"], document.metadata["end_index"])
        assert document.page_content == TEXT[span.start : span.end]
        assert document.page_content
        assert not any(span.overlaps(other) for other in taken)
        taken.append(span)
        anchors = [Span(*anchor) for anchor in document.metadata["anchors"]]
        assert all(span.start <= anchor.start < anchor.end <= span.end for anchor in anchors)
        assert list(anchors[0]) == document.metadata["anchor"]
    merged = {removal.chunk_id for removal in found.trace.removed}
    assert {d.id for d in found} | merged == {chunk.id for chunk in chunks}
    assert [chunk.model_dump() for chunk in chunks] == before


def test_the_cited_chunk_stays_as_the_anchor(index: Any, chunk: Any, text: str) -> None:
    (found,) = WindowExpander(sentences=1, index=index).expand([chunk(16, 33)])
    assert found.page_content == "First one here. Second one there. Third one too."
    assert found.id == "d:16-33"
    assert found.metadata["anchor"] == [16, 33]
    assert text[slice(*found.metadata["anchor"])] == "Second one there."
    assert found.metadata["page"] == 1


def test_a_chunk_of_a_foreign_retriever_goes_on_as_it_is(index: Any) -> None:
    foreign = Document(page_content="from elsewhere")
    assert WindowExpander(index=index).expand([foreign]) == [foreign]


def test_a_limit_keeps_the_chunk_whole_and_near_the_middle() -> None:
    assert within(Span(0, 100), Span(50, 60), 30, 100) == Span(40, 70)
    assert within(Span(0, 100), Span(0, 10), 30, 100) == Span(0, 30)
    assert within(Span(40, 60), Span(40, 60), 5, 100) == Span(40, 60)


def test_no_expansion_changes_nothing(chunk: Any) -> None:
    chunks = [chunk(0, 15)]
    assert list(NoExpander().expand(chunks)) == chunks


def test_an_index_is_needed(chunk: Any) -> None:
    with pytest.raises(ConfigError, match="needs the index"):
        ParentExpander().expand([chunk(0, 15)])


def test_a_chunk_that_two_earlier_ones_show_together_is_merged_and_never_comes_back_empty() -> None:
    places = [(0, 60), (60, 120), (30, 90)]
    chunks = [
        Document(id=f"d:{a}-{b}", page_content=TEXT[a:b], metadata={"doc_id": "d", "start_index": a, "end_index": b})
        for a, b in places
    ]
    for expander in (ParentExpander, WindowExpander):
        found = expander(index=One(), max_characters=60).expand(chunks)
        assert [document.page_content for document in found] == [TEXT[:60], TEXT[60:120]]
        assert [removal.chunk_id for removal in found.trace.removed] == ["d:30-90"]
