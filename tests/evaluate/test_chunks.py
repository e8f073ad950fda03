"""Recall, precision and IoU of chunks against gold spans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.evaluate.chunks import ChunkQuestion, load_corpus, overlap_measures, score_chunks
from rag_app.split import MarkdownSplitter, ParentSplitter, RecursiveSplitter
from rag_app.types import ConfigError, LoadedDocument, Span

TEXT = "The pump costs ten dollars. Cats sleep a lot. The warranty lasts two years. Dogs bark at night."


def test_measures_are_shares_of_characters() -> None:
    recall, precision, iou, total = overlap_measures([("a", Span(0, 10)), ("a", Span(5, 15))], {"a": [Span(8, 20)]})
    assert (recall, precision, iou, total) == (7 / 12, 7 / 20, 7 / (12 + 20 - 7), 20)
    assert overlap_measures([("b", Span(0, 10))], {"a": [Span(0, 10)]}) == (0.0, 0.0, 0.0, 10)
    assert overlap_measures([], {"a": [Span(0, 10)]}) == (0.0, 0.0, 0.0, 0)


def test_a_corpus_that_answers_has_full_recall() -> None:
    document = LoadedDocument(page_content=TEXT, metadata={"source": "s"})
    question = ChunkQuestion("What does the pump cost in dollars?", {"s": (Span(0, 27),)})
    chunks = RecursiveSplitter(chunk_size=35).chunks(document)
    scores = score_chunks(chunks, [question], HashingEmbedder(), top_k=1)
    assert (scores.recall, scores.precision, scores.iou) == (1.0, 1.0, 1.0)
    assert scores.mean_read == 27


def test_reading_parents_counts_each_parent_once() -> None:
    document = LoadedDocument(page_content=TEXT, metadata={"source": "s"})
    question = ChunkQuestion("What does the pump cost in dollars?", {"s": (Span(0, 27),)})
    splitter = ParentSplitter(parents=MarkdownSplitter(chunk_size=200), children=RecursiveSplitter(chunk_size=35))
    scores = score_chunks(splitter.chunks(document), [question], HashingEmbedder(), top_k=3, read="parent")
    assert scores.mean_read == len(TEXT)
    assert scores.recall == 1.0


def test_no_chunks_score_nothing() -> None:
    assert score_chunks([], [ChunkQuestion("x", {})], HashingEmbedder()).recall == 0.0


def test_a_corpus_is_read_from_its_two_files(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "s", "text": TEXT}) + "\n", encoding="utf-8")
    reference = {"content": TEXT[:27], "start_index": 0, "end_index": 27}
    row = {"question": "What?", "doc_id": "s", "references": [reference]}
    (tmp_path / "qa.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    documents, questions = load_corpus(tmp_path)
    assert documents[0].page_content == TEXT
    assert questions == [ChunkQuestion("What?", {"s": (Span(0, 27),)})]
    with pytest.raises(ConfigError, match=r"corpus\.jsonl"):
        load_corpus(tmp_path / "none")


@pytest.mark.data
def test_gold_spans_of_the_data_are_slices(data_dir: Path) -> None:
    documents, questions = load_corpus(data_dir / "chroma_chunking")
    texts = {document.metadata["source"]: document.page_content for document in documents}
    assert len(questions) == 472
    for question in questions:
        for source, spans in question.spans.items():
            assert all(0 <= span.start < span.end <= len(texts[source]) for span in spans)
