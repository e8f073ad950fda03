"""Checkpoints name the chunks that are too big or cut a sentence."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document

from rag_app.split import CheckpointCollector, MarkdownSplitter, ProfileSplitter, RecursiveSplitter, checkpoints
from rag_app.types import Span

PROSE = " ".join(f"Sentence number {i} says something about part {i * 7 % 13}." for i in range(100))


class Fixed(RecursiveSplitter):
    """Cuts at every 100th character, sentences or not."""

    def spans(self, text: str) -> list[Span]:
        return [Span(i, min(i + 100, len(text))) for i in range(0, len(text), 100)]


@pytest.mark.parametrize("splitter", [MarkdownSplitter(chunk_size=400), RecursiveSplitter(), ProfileSplitter()])
def test_structured_prose_passes(splitter: RecursiveSplitter) -> None:
    found = checkpoints([Document(id="p", page_content=PROSE)], splitter)
    assert found.passed
    assert found.cuts_sentence == found.without_sentence == 0
    assert found.mean_ratio is not None
    assert 0.8 <= found.mean_ratio <= 1.2


def test_a_breach_names_the_chunk() -> None:
    found = checkpoints([Document(id="p", page_content=PROSE, metadata={"source": "p.txt"})], Fixed(chunk_size=60))
    assert not found.passed
    assert found.warnings[0].startswith("the mean chunk is 1.6")
    assert "chunk p:0-100 of p.txt has size 100, 1.67 times the target 60" in found.warnings
    assert any(warning.startswith("chunk p:0-100 of p.txt cuts the sentence at ") for warning in found.warnings)
    assert found.warnings[-1].endswith("more warnings of these kinds")
    assert found.cuts_sentence > 0.9


def test_nothing_is_no_breach() -> None:
    found = CheckpointCollector().report()
    assert (found.chunks, found.mean_size, found.mean_ratio, found.passed) == (0, 0.0, None, True)
