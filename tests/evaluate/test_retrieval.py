"""Evaluation of rankings: runs, reports, findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from rag_app.evaluate.datasets import Dataset, read_dataset
from rag_app.evaluate.retrieval import evaluate_retrieval, evaluate_runs, make_run, ranking_of_sources
from rag_app.types import ConfigError

QUERIES = {str(i): f"query {i}" for i in range(20)}
QRELS = {str(i): {f"d{i}": 1} for i in range(20)}
DATA = Dataset("toy", {f"d{i}": f"text {i}" for i in range(20)}, QUERIES, QRELS)


def good(queries: list[str]) -> list[list[Document]]:
    return [[Document(page_content="", metadata={"source": f"d{query.split()[1]}"})] for query in queries]


def bad(queries: list[str]) -> list[list[Document]]:
    return [[Document(page_content="", metadata={"source": "other"})] for _ in queries]


def test_a_document_stands_at_the_rank_of_its_best_chunk() -> None:
    chunks = [Document(page_content="", metadata={"source": s}) for s in ("a", "b", "a", "c")]
    assert ranking_of_sources(chunks) == ["a", "b", "c"]
    assert make_run(good, {"3": "query 3"}) == {"3": ["d3"]}


def test_the_report_has_measures_comparisons_and_findings() -> None:
    report = evaluate_retrieval(DATA, {"bm25": good, "dense": bad, "hybrid": bad}).to_dict()
    assert report["queries"] == 20
    assert report["rankings"]["bm25"]["nDCG@10"] == 1.0
    assert report["rankings"]["dense"]["MAP"] == 0.0
    first = report["comparisons"][0]
    assert (first["a"], first["b"], first["measure"], first["difference"]) == ("bm25", "dense", "nDCG@10", -1.0)
    assert first["p"] < 0.001
    assert any("bm25 is better than dense" in finding for finding in report["findings"])
    assert any("fusing does harm" in finding for finding in report["findings"])
    json.dumps(report, allow_nan=False)


def test_equal_rankings_are_found_to_be_equal() -> None:
    run = {query_id: ["x", f"d{query_id}"] for query_id in QUERIES}
    report = evaluate_runs(DATA, {"hybrid": run, "rerank": run})
    assert report.findings == ("no ranking is shown to be better than another on nDCG@10",)
    assert report.comparisons[0].p == 1.0


def test_a_folder_in_beir_layout_is_read_with_its_splits(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "title": "T", "text": "x"}\n{"_id": "b", "text": "y"}\n')
    (tmp_path / "queries.train.jsonl").write_text('{"_id": "1", "text": "q"}\n')
    (tmp_path / "qrels.train.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t2\n1\tgone\t1\n")
    data = read_dataset(tmp_path, split="train")
    assert data.corpus == {"a": "T\n\nx\n", "b": "y\n"}
    assert data.qrels == {"1": {"a": 2}}
    documents = list(data.documents())
    assert [d.metadata["source"] for d in documents] == ["a", "b"]
    assert documents[0].id == documents[0].metadata["doc_id"]


def test_a_missing_or_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"corpus\.jsonl"):
        read_dataset(tmp_path)
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n{"_id": 3}\n')
    with pytest.raises(ConfigError, match="line 2"):
        read_dataset(tmp_path)


def test_a_collection_without_a_relevant_document_is_refused_and_not_scored_zero(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "q"}\n')
    for judgments in ("", "7\ta\t1\n", "1\tgone\t1\n", "1\ta\t0\n"):
        (tmp_path / "qrels.tsv").write_text(judgments)
        with pytest.raises(ConfigError, match=r"no query of .* has a relevant document"):
            read_dataset(tmp_path)


@pytest.mark.data
def test_scifact_is_read_whole(data_dir: Any) -> None:
    data = read_dataset(data_dir / "scifact")
    assert (len(data.corpus), len(data.qrels), sum(map(len, data.qrels.values()))) == (5183, 300, 339)
