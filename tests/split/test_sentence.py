"""Sentence windows: small chunks, and the bigger span that each stands for."""

from __future__ import annotations

from langchain_core.documents import Document

from rag_app.split import SentenceWindowSplitter

TEXT = "One is first. Two is second.\n\nThree is third. Four is fourth. Five is fifth."


def test_a_chunk_is_a_sentence_and_its_window_the_sentences_around() -> None:
    chunks = SentenceWindowSplitter(window=1).transform_documents([Document(page_content=TEXT)])
    assert [chunk.page_content for chunk in chunks] == [
        "One is first.", "Two is second.", "Three is third.", "Four is fourth.", "Five is fifth.",
    ]  # fmt: skip
    windows = [TEXT[slice(*chunk.metadata["window"])] for chunk in chunks]
    assert windows[0] == "One is first. Two is second."
    assert windows[2] == "Two is second.\n\nThree is third. Four is fourth."
    assert windows[-1] == "Four is fourth. Five is fifth."


def test_several_sentences_make_a_chunk_while_they_fit() -> None:
    assert SentenceWindowSplitter(sentences=2).split_text(TEXT) == [
        "One is first. Two is second.", "Three is third. Four is fourth.", "Five is fifth.",
    ]  # fmt: skip
    assert len(SentenceWindowSplitter(sentences=2, max_size=20).split_text(TEXT)) == 5
