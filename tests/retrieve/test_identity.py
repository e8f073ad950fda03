"""What makes two documents the same one."""

from __future__ import annotations

from langchain_core.documents import Document

from rag_app.retrieve.identity import identities, identity


def test_identity_is_the_id_else_the_place_else_source_and_content() -> None:
    assert identity(Document(id="x", page_content="a", metadata={"source": "s"})) == "x"
    assert identity(Document(page_content="abc", metadata={"source": "s", "start_index": 4})) == "s:4-7"
    assert identity(Document(page_content="a", metadata={"source": "s"})).startswith("s#")
    assert identity(Document(page_content="a", metadata={"n": 7}), id_key="n") == "7"


def test_equal_text_on_two_pages_or_of_two_files_is_two_documents() -> None:
    pages = [Document(page_content="same", metadata={"source": "s", "page": page}) for page in (1, 2)]
    files = [Document(page_content="same", metadata={"file_path": path}) for path in ("a", "b")]
    assert len({identity(document) for document in pages + files}) == 4


def test_what_an_arm_adds_to_metadata_does_not_matter() -> None:
    plain = Document(page_content="same", metadata={"source": "s"})
    scored = Document(page_content="same", metadata={"source": "s", "relevance_score": 0.7, "_distance": 1})
    assert identity(plain) == identity(scored)


def test_a_document_without_an_id_takes_the_one_another_arm_gave_it() -> None:
    named = Document(id="uuid", page_content="same", metadata={"source": "s"})
    plain = Document(page_content="same", metadata={"source": "s"})
    other = Document(page_content="same", metadata={"source": "t"})
    first, second = identities([[plain, other], [named]])
    assert first[0] == second[0] == "uuid"
    assert first[1] != "uuid"
