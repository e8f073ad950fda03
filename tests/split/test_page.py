"""Pages: one chunk each, cut only where a page is above the most."""

from __future__ import annotations

from rag_app.split import PageSplitter
from rag_app.types import Layout, LoadedDocument, Page

TEXT = "First page. It is short.\n\n" + "Second page. " * 20 + "\n\nThird page."


def test_a_page_is_a_chunk_and_a_long_one_is_cut_inside() -> None:
    second, third = TEXT.index("Second"), TEXT.index("Third")
    pages = (Page(start=0, end=second), Page(start=second, end=third), Page(start=third, end=len(TEXT), label="iii"))
    document = LoadedDocument(page_content=TEXT, layout=Layout(pages=pages))
    chunks = PageSplitter(max_size=150).chunks(document)
    assert [chunk.metadata["page"] for chunk in chunks] == [1, 2, 2, 3]
    assert (chunks[0].page_content, chunks[-1].page_content) == ("First page. It is short.", "Third page.")
    assert chunks[-1].metadata["page_label"] == "iii"
    assert len(PageSplitter().chunks(document)) == 3
