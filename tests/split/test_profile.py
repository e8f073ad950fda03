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


def _document(**metadata: object) -> Document:
    return Document(page_content="One. Two.", metadata=metadata)


def test_one_size_for_all_is_not_the_default() -> None:
    splitter = ProfileSplitter()
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
        ]
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
