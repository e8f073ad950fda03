"""`rag-app eval retrieval` on a small folder in BEIR layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_app.cli import main

CORPUS = {
    "pump": "Reset the pump with the red lever.",
    "filter": "The water filter is changed every six months.",
    "holiday": "Employees have thirty days of holiday a year.",
}
QUERIES = {"1": ("reset a pump", "pump"), "2": ("change of the filter", "filter"), "3": ("days of holiday", "holiday")}


@pytest.fixture
def dataset(tmp_path: Path) -> str:
    corpus = [json.dumps({"_id": i, "title": "", "text": text}) for i, text in CORPUS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(corpus))
    (tmp_path / "queries.jsonl").write_text(
        "\n".join(json.dumps({"_id": i, "text": q}) for i, (q, _) in QUERIES.items())
    )
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"{i}\t{d}\t1\n" for i, (_, d) in QUERIES.items())
    )
    return str(tmp_path)


def run(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["eval", "retrieval", *arguments, "--set", "embed.kind=hashing"])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_rankings_comparisons_and_findings_come_as_one_object(capsys: Any, dataset: str, tmp_path: Path) -> None:
    kept = str(tmp_path / "index")
    code, out, _ = run(capsys, dataset, "--json", "--rankings", "bm25,hybrid", "--index", kept)
    assert code == 0
    report = json.loads(out)
    assert report["queries"] == 3
    assert report["rankings"]["bm25"].keys() == {"nDCG@10", "MAP", "R@10", "R@100", "P@5", "RR@10"}
    assert report["rankings"]["bm25"]["nDCG@10"] == 1.0
    assert [(c["a"], c["b"]) for c in report["comparisons"]] == [("bm25", "hybrid")]
    again = json.loads(run(capsys, dataset, "--json", "--rankings", "bm25,hybrid", "--index", kept)[1])
    assert again == report


def test_an_unknown_ranking_is_a_usage_error(capsys: Any, dataset: str) -> None:
    code, _, err = run(capsys, dataset, "--rankings", "bm25,best")
    assert code == 2
    assert "best" in err


def test_the_table_for_people_has_the_measures(capsys: Any, dataset: str) -> None:
    code, out, _ = run(capsys, dataset, "--rankings", "bm25")
    assert code == 0
    assert "nDCG@10" in out
