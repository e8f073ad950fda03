"""Quotes: exact slices of the document, the sentences that support the clause."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_app.cite import align, attribute, bind, locate, parse_markers, resolve
from rag_app.types import Layout, LoadedDocument, Page, Span

TEXT = "Staff rules. Office staff may work from home two days a week. The canteen opens at noon. Bring a badge."
CHUNK = Document(TEXT[13:], id="d:13-104", metadata={"source": "h.md", "doc_id": "d", "start_index": 13, "page": 4})


def test_the_span_is_that_of_the_document_not_of_the_chunk() -> None:
    (span,) = align("Employees may work from home two days per week", CHUNK)
    assert TEXT[span.start : span.end] == "Office staff may work from home two days a week."


def test_two_sentences_are_quoted_when_the_claim_needs_both() -> None:
    (span,) = align("Staff may work from home two days a week and the canteen opens at noon", CHUNK)
    assert TEXT[span.start : span.end].startswith("Office staff")
    assert TEXT[span.start : span.end].endswith("noon.")


def test_a_row_of_a_table_is_quoted_whole() -> None:
    table = "| Years | Days |\n|---|---|\n| 0 to 5 | 20 |\n| 6 to 10 | 22 |"
    (span,) = align("After 6 years it is 22 days", Document(table))
    assert table[span.start : span.end] == "6 to 10 | 22"


def test_where_no_word_is_shared_the_whole_chunk_is_the_quote() -> None:
    (span,) = align("完全不同", CHUNK)
    assert TEXT[span.start : span.end] == TEXT[13:]


def test_a_blank_chunk_has_no_quote() -> None:
    assert align("A", Document("  ")) == []


def test_each_clause_gets_its_own_quote() -> None:
    bound = bind(parse_markers("Home office is two days a week [1]. The canteen opens at noon [1].", 1))
    citations = resolve(bound, [CHUNK])
    assert [citation.quote for citation in citations] == [
        "Office staff may work from home two days a week.",
        "The canteen opens at noon.",
    ]
    assert {(c.marker, c.source, c.page, c.chunk_id) for c in citations} == {(1, "h.md", 4, "d:13-104")}


def test_with_the_stored_document_the_page_is_that_of_the_quote() -> None:
    layout = Layout(pages=(Page(start=0, end=61), Page(start=61, end=104)))
    stored = LoadedDocument(page_content=TEXT, id="d", layout=layout)
    bound = bind(parse_markers("The canteen opens at noon [1].", 1))
    (citation,) = resolve(bound, [CHUNK])
    assert citation.page == 4
    assert locate(citation, stored).page == 2


def test_an_uncited_clause_is_attributed_to_the_chunk_that_covers_it() -> None:
    other = Document("Invoices are due 45 days after receipt.")
    assert attribute("The canteen opens at noon.", [other, CHUNK]) == 2
    assert attribute("Elephants live in Africa.", [other, CHUNK]) is None
    assert attribute("Anything", []) is None


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.text(max_size=200), st.integers(0, 1000))
def test_every_quote_is_the_text_at_its_span(claim: str, text: str, start: int) -> None:
    chunk = Document(text, metadata={"start_index": start})
    document = "x" * start + text
    for span in align(claim, chunk):
        assert isinstance(span, Span)
        assert start <= span.start < span.end <= len(document)
        assert document[span.start : span.end] == text[span.start - start : span.end - start]
