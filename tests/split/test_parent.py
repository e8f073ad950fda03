"""Parents and children are spans of one document: nothing to keep in step."""

from __future__ import annotations

from langchain_core.documents import Document

from rag_app.split import ParentSplitter, RecursiveSplitter
from rag_app.types import Heading, Layout, LoadedDocument

TEXT = " ".join(f"Sentence number {i} is here." for i in range(12))


def test_every_child_lies_in_its_parent() -> None:
    splitter = ParentSplitter(parents=RecursiveSplitter(chunk_size=150), children=RecursiveSplitter(chunk_size=60))
    chunks = splitter.transform_documents([Document(id="d", page_content=TEXT)])
    parents = [tuple(chunk.metadata["parent"]) for chunk in chunks]
    assert sorted(set(parents)) == [tuple(span) for span in RecursiveSplitter(chunk_size=150).spans(TEXT)]
    for chunk, (start, end) in zip(chunks, parents, strict=True):
        assert chunk.page_content in TEXT[start:end]
        assert start <= chunk.metadata["start_index"] < chunk.metadata["end_index"] <= end


def test_a_child_of_two_parents_is_there_once() -> None:
    splitter = ParentSplitter(
        parents=RecursiveSplitter(chunk_size=120, chunk_overlap=60), children=RecursiveSplitter(chunk_size=30)
    )
    ids = [chunk.id for chunk in splitter.create_documents([TEXT])]
    assert len(ids) == len(set(ids)) == 12


def test_children_see_the_headings_that_the_loader_found() -> None:
    text = f"Start\n\n{TEXT}\n\nEnd\n\n{TEXT}"
    headings = (Heading(start=0, level=1, title="Start"), Heading(start=text.index("End"), level=1, title="End"))
    document = LoadedDocument(page_content=text, layout=Layout(headings=headings))
    chunks = ParentSplitter().chunks(document)
    assert {tuple(chunk.metadata["section_path"]) for chunk in chunks} == {("Start",), ("End",)}
    assert sum(chunk.page_content.startswith("End\n") for chunk in chunks) == 1
