"""What holds for every splitter and every text: slices, nothing lost, bounds, determinism."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from pydantic import TypeAdapter

from rag_app.split import (
    CodeSplitter,
    HtmlSplitter,
    MarkdownSplitter,
    PageSplitter,
    ParentSplitter,
    ProfileSplitter,
    RecursiveSplitter,
    SemanticSplitter,
    SentenceWindowSplitter,
    SpanSplitter,
    Splitter,
)


class LetterEmbeddings(Embeddings):
    """How often each letter stands in a text: small, deterministic, and alike for alike texts."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[text.count(letter) + 0.01 for letter in "aeiounst.x"] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def _words(text: str) -> int:
    return len(text.split())


SIZE = 40
SPLITTERS: dict[str, SpanSplitter] = {
    "recursive": RecursiveSplitter(chunk_size=SIZE, chunk_overlap=10),
    "semantic": SemanticSplitter(group_size=2, min_size=10, max_size=SIZE, embeddings=LetterEmbeddings()),
    "semantic, overlapping": SemanticSplitter(
        min_size=0, max_size=SIZE, overlap=0.3, amount=50, embeddings=LetterEmbeddings()
    ),
    "sentence": SentenceWindowSplitter(max_size=SIZE),
    "sentences": SentenceWindowSplitter(sentences=3, window=1, max_size=SIZE),
    "parent": ParentSplitter(parents=MarkdownSplitter(chunk_size=60), children=RecursiveSplitter(chunk_size=SIZE)),
    "overlapping parents": ParentSplitter(
        parents=RecursiveSplitter(chunk_size=60, chunk_overlap=30), children=SentenceWindowSplitter(max_size=SIZE)
    ),
    "markdown": MarkdownSplitter(chunk_size=30, max_size=SIZE),
    "markdown, overlapping": MarkdownSplitter(chunk_size=30, max_size=SIZE, chunk_overlap=12),
    "html": HtmlSplitter(chunk_size=30, max_size=SIZE),
    "code": CodeSplitter(chunk_size=30, max_size=SIZE),
    "code, python": CodeSplitter(chunk_size=30, max_size=SIZE, language="python"),
    "code, kotlin": CodeSplitter(chunk_size=30, max_size=SIZE, language="kotlin"),
    "page": PageSplitter(max_size=SIZE),
    "auto": ProfileSplitter(default=MarkdownSplitter(chunk_size=30, max_size=SIZE)),
}


def _check(splitter: SpanSplitter, text: str, most: int | None) -> None:
    document = Document(page_content=text, metadata={"source": "s"})
    chunks = splitter.transform_documents([document])
    covered = bytearray(len(text))
    for chunk in chunks:
        start, end = chunk.metadata["start_index"], chunk.metadata["end_index"]
        assert chunk.page_content == text[start:end] == text[start:end].strip() != ""
        assert chunk.id == f"{chunk.metadata['doc_id']}:{start}-{end}"
        if most is not None:
            assert splitter.measure(chunk.page_content) <= most
        for name in ("parent", "window"):
            if name in chunk.metadata:
                assert chunk.metadata[name][0] <= start < end <= chunk.metadata[name][1] <= len(text)
        covered[start:end] = b"\1" * (end - start)
    assert all(mark or char.isspace() for mark, char in zip(covered, text, strict=True))
    ids = [chunk.id for chunk in chunks]
    assert len(set(ids)) == len(ids)
    assert [chunk.metadata["chunk_index"] for chunk in chunks] == list(range(len(chunks)))
    starts = [chunk.metadata["start_index"] for chunk in chunks]
    assert starts == sorted(starts)
    assert splitter.split_text(text) == [chunk.page_content for chunk in chunks]
    assert splitter.transform_documents([document]) == chunks
    assert document == Document(page_content=text, metadata={"source": "s"})


@pytest.mark.parametrize("name", SPLITTERS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_chunks_are_slices_that_hold_everything(name: str, texts: st.SearchStrategy[str], data: st.DataObject) -> None:
    _check(SPLITTERS[name], data.draw(texts), SIZE)


@pytest.mark.parametrize("name", ["recursive", "semantic", "sentence", "parent", "markdown", "code", "page"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_the_same_holds_when_sizes_count_words(name: str, texts: st.SearchStrategy[str], data: st.DataObject) -> None:
    splitter = SPLITTERS[name].bind(length_function=_words)
    _check(splitter, data.draw(texts), SIZE)


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("text", ["", " \n\t", "x", "One.", "One. Two.", "\r\n# H\r\n", "。", "|", "```", "<h1>", "-"])
def test_tiny_texts_behave(name: str, text: str) -> None:
    _check(SPLITTERS[name], text, SIZE)


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize(
    "text", ["x" * 30_000, "word " * 5_000, "a. B " * 4_000, '."' * 5_000, "| a | b |\n" * 1_500, "水" * 10_000]
)
def test_very_long_lines_are_cut_within_bounds(name: str, text: str) -> None:
    splitter = SPLITTERS[name]
    spans = splitter.spans(text)
    assert max(span.end - span.start for span in spans) <= SIZE
    assert sum(len(text[s.start : s.end].strip()) > 0 for s in spans) == len(spans)


@pytest.mark.parametrize("name", SPLITTERS)
def test_settings_survive_json(name: str) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(Splitter)
    dumped = adapter.dump_python(SPLITTERS[name], mode="json")
    assert adapter.dump_python(adapter.validate_python(dumped), mode="json") == dumped


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in SPLITTERS if not name.startswith("semantic")])
def test_the_same_holds_for_real_documents(name: str, data_dir: Any) -> None:
    for path in sorted((data_dir / "documents" / "md_site").glob("*.md"))[::14]:
        _check(SPLITTERS[name], path.read_text(encoding="utf-8"), SIZE)


def test_the_same_text_gives_the_same_chunks_in_every_process() -> None:
    chunks = ProfileSplitter().create_documents(["# A\n\nOne. Two.\n\n## B\n\nThree."], [{"source": "a.md"}])
    digest = hashlib.sha256("".join(chunk.model_dump_json() for chunk in chunks).encode()).hexdigest()[:12]
    assert chunks[0].metadata["section_path"] == ["A"]
    assert digest == digest.lower()
