"""The recursive splitter: sizes, places to cut, overlap; exact offsets whatever the length function."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_app.split import RecursiveSplitter


def _words(text: str) -> int:
    return len(text.split())


def test_offsets_are_exact_when_size_is_counted_in_words() -> None:
    """BUGS.md row 6: langchain-ai/langchain#17642, #29884."""
    for text in (" ".join(f"w{i}" for i in range(60)), "again and again and " * 60):
        splitter = RecursiveSplitter(chunk_size=10, chunk_overlap=4, length_function=_words)
        chunks = splitter.transform_documents([Document(page_content=text)])
        assert len(chunks) > 5
        for chunk in chunks:
            start = chunk.metadata["start_index"]
            assert text[start : start + len(chunk.page_content)] == chunk.page_content
            assert _words(chunk.page_content) <= 10
        places = [chunk.metadata["start_index"] for chunk in chunks]
        assert places == sorted(set(places))


def test_the_sentence_mark_stays_with_its_sentence() -> None:
    """BUGS.md row 20: langchain-ai/langchain#20908, #18770."""
    assert RecursiveSplitter(chunk_size=14).split_text("Alpha one. Beta two. Gamma three.") == [
        "Alpha one.",
        "Beta two.",
        "Gamma three.",
    ]
    chinese = RecursiveSplitter(chunk_size=6).split_text("水泵坏了。请换过滤。真的吗？")
    assert chinese == ["水泵坏了。", "请换过滤。", "真的吗？"]


def test_text_between_pieces_is_the_documents_own() -> None:
    """BUGS.md row 21: langchain-ai/langchain#23394, #9843."""
    text = "Hello \t world,\r\n\r\n  again."
    assert RecursiveSplitter(chunk_size=100).split_text(text) == [text]


def test_an_overlap_is_whole_sentences() -> None:
    splitter = RecursiveSplitter(chunk_size=32, chunk_overlap=11)
    assert splitter.split_text("Alpha one. Beta two. Gamma three. Delta four. Epsilon five.") == [
        "Alpha one. Beta two.",
        "Beta two. Gamma three.",
        "Delta four. Epsilon five.",
    ]


def test_an_overlap_as_big_as_a_chunk_is_refused() -> None:
    with pytest.raises(ValueError, match="must be smaller"):
        RecursiveSplitter(chunk_size=10, chunk_overlap=10)


def test_a_line_of_100k_characters_is_split_at_words_in_time_that_grows_with_it() -> None:
    text = "word " * 20_000
    chunks = RecursiveSplitter(chunk_size=500, chunk_overlap=50).split_text(text)
    assert all(len(chunk) <= 500 and set(chunk.split()) == {"word"} for chunk in chunks)


def test_a_family_emoji_is_never_cut() -> None:
    family = "👩‍👩‍👧‍👦"
    assert all(set(chunk.split(family)) == {""} for chunk in RecursiveSplitter(chunk_size=16).split_text(family * 20))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), size=st.integers(1, 120), share=st.floats(0, 0.9), words=st.booleans())
def test_chunks_are_slices_within_bounds_that_hold_everything(
    texts: st.SearchStrategy[str], data: st.DataObject, size: int, share: float, words: bool
) -> None:
    text = data.draw(texts)
    splitter = RecursiveSplitter(
        chunk_size=size, chunk_overlap=int(size * share), length_function=_words if words else None
    )
    spans = splitter.spans(text)
    covered = bytearray(len(text))
    for span in spans:
        piece = span.slice(text)
        assert piece == piece.strip() != ""
        assert splitter.measure(piece) <= size
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    assert all(mark or char.isspace() for mark, char in zip(covered, text, strict=True))
    assert spans == sorted(set(spans))
    assert spans == splitter.spans(text)
