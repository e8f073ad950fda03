"""Profiles: each kind of document gets the splitter that suits it."""

from __future__ import annotations

from langchain_core.documents import Document

from rag_app.split import (
    CodeSplitter,
    MarkdownSplitter,
    Profile,
    ProfileSplitter,
    RecursiveSplitter,
    SemanticSplitter,
    SentenceWindowSplitter,
)
from rag_app.types import Heading, Layout, LoadedDocument


def _document(**metadata: object) -> Document:
    return Document(page_content="One. Two.", metadata=metadata)


def test_one_size_for_all_is_not_the_default() -> None:
    splitter = ProfileSplitter(whole_below=0)
    code = splitter.for_document(_document(document_type="code"))
    contract = splitter.for_document(_document(document_type="contract"))
    prose = splitter.for_document(_document(document_type="prose"))
    assert isinstance(code, CodeSplitter)
    assert isinstance(contract, MarkdownSplitter)
    assert contract.chunk_overlap == contract.chunk_size // 4
    assert isinstance(prose, MarkdownSplitter)
    assert prose.chunk_overlap == 0


def test_the_first_profile_whose_conditions_all_hold_decides() -> None:
    splitter = ProfileSplitter(
        profiles=[
            Profile(name="minutes", glob=["minutes/*"], metadata={"lang": "de"}, splitter=SentenceWindowSplitter()),
            Profile(name="minutes", glob=["minutes/*", "*.vtt"], splitter=RecursiveSplitter(chunk_size=5)),
        ],
        whole_below=0,
    )
    assert splitter.for_document(_document(source="minutes/a.txt", lang="de")).kind == "sentence"  # type: ignore[attr-defined]
    assert splitter.chunks(_document(source="talk.vtt"))[0].page_content == "One."
    assert splitter.for_document(_document(source="a.txt")) is splitter.default


def test_what_is_bound_reaches_every_member() -> None:
    splitter = ProfileSplitter(profiles=[Profile(name="all", splitter=SemanticSplitter())])
    assert splitter.needs_embedder
    bound = splitter.bind(count_tokens=len, max_tokens=7)
    assert (bound.profiles[0].splitter.max_tokens, bound.default.max_tokens, bound.max_tokens) == (7, 7, 7)
    assert splitter.profiles[0].splitter.max_tokens is None


def test_a_short_document_stays_whole_and_a_long_one_does_not() -> None:
    text = "A sentence of eight words stands right here. " * 20
    splitter = ProfileSplitter(whole_below=250).bind(count_tokens=lambda text: len(text.split()), max_tokens=100)
    (chunk,) = splitter.chunks(Document(page_content=f"\n{text}"))
    assert chunk.page_content == text.strip()
    assert len(splitter.chunks(Document(page_content=text * 2))) > 2
    assert len(splitter.model_copy(update={"whole_below": 0}).chunks(Document(page_content=text))) > 1
    assert splitter.split_text(text) == [text.strip()]


def test_a_document_with_sections_is_cut_along_them_however_short() -> None:
    text = "# Pump\n\n" + "Reset the pump. " * 60 + "\n\n# Valve\n\n" + "Close the valve. " * 60
    headings = (Heading(start=0, level=1, title="Pump"), Heading(start=text.index("# Valve"), level=1, title="Valve"))
    document = LoadedDocument(page_content=text, layout=Layout(headings=headings))
    chunks = ProfileSplitter(whole_below=5000).chunks(document)
    assert {tuple(chunk.metadata["section_path"]) for chunk in chunks} == {("Pump",), ("Valve",)}


def test_a_profile_that_matches_is_asked_before_the_length() -> None:
    splitter = ProfileSplitter(profiles=[Profile(name="all", splitter=RecursiveSplitter(chunk_size=5))])
    assert [chunk.page_content for chunk in splitter.chunks(_document())] == ["One.", "Two."]
