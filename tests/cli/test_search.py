"""`rag-app search`, as another program drives it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_app.cli import main

HASHING = ["--set", "embed.kind=hashing"]
TEXTS = {
    "pump.txt": "Reset the pump with the red lever. Wait two minutes.",
    "filter.md": "# Care\n\nThe water filter is changed every six months.",
    "holiday.txt": "Employees have thirty days of holiday a year.",
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    rows = [json.loads(line) for line in out.splitlines()] if "--json" in arguments else []
    return int(stop.value.code or 0), rows, err if rows or "--json" in arguments else out + err


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    from rag_app.pipeline import build_index
    from rag_app.settings import Settings

    root = tmp_path_factory.mktemp("files")
    for name, text in TEXTS.items():
        (root / name).write_text(text, encoding="utf-8")
    where = tmp_path_factory.mktemp("index") / "index"
    build_index(Settings.resolve(None, ["embed.kind=hashing"]), [root], where)
    return str(where)


def test_a_hit_has_its_place_its_score_and_its_stages(capsys: Any, folder: str) -> None:
    code, (row,), _ = run(capsys, "search", "water filter", "--index", folder, "--json", *HASHING)
    assert code == 0
    assert row["query"] == "water filter"
    first = row["hits"][0]
    assert (first["rank"], first["source"]) == (1, "filter.md")
    assert first["id"].endswith(f":{first['start']}-{first['end']}")
    assert first["stages"].keys() == {"bm25", "dense", "rrf"}
    assert first["score"] == first["stages"]["rrf"]["score"]
    assert row["timings"]["total"] >= 0


@pytest.mark.parametrize("ranking", ["bm25", "dense", "hybrid"])
def test_scores_fall_and_ranks_count_from_1(capsys: Any, folder: str, ranking: str) -> None:
    arguments = ["--ranking", ranking, "--top-k", "2", "--index", folder, "--json", *HASHING]
    _, (row,), _ = run(capsys, "search", "the pump", *arguments)
    assert [hit["rank"] for hit in row["hits"]] == list(range(1, len(row["hits"]) + 1))
    scores = [hit["score"] for hit in row["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert len(row["hits"]) <= 2


def test_a_batch_answers_in_order_with_each_rows_own_filter(capsys: Any, folder: str, tmp_path: Path) -> None:
    rows = [{"query": "pump"}, {"query": "pump", "filter": {"source": "holiday.txt"}}, {"query": ""}]
    queries = tmp_path / "queries.jsonl"
    queries.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    code, found, _ = run(capsys, "search", "--queries", str(queries), "--index", folder, "--json", *HASHING)
    assert code == 0
    assert [row["query"] for row in found] == ["pump", "pump", ""]
    assert found[0]["hits"][0]["source"] == "pump.txt"
    assert [hit["source"] for hit in found[1]["hits"]] == ["holiday.txt"]
    assert found[2]["hits"] == []


def test_a_row_with_a_broken_filter_fails_alone(capsys: Any, folder: str, tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"query": "pump", "filter": {"$nor": 1}}\n{"query": "pump"}\n', encoding="utf-8")
    code, found, _ = run(capsys, "search", "--queries", str(queries), "--index", folder, "--json", *HASHING)
    assert code == 1
    assert "$nor" in found[0]["error"]
    assert found[1]["hits"]


def test_explain_tells_what_removed_a_chunk(capsys: Any, folder: str) -> None:
    _, (row,), _ = run(capsys, "search", "pump", "--index", folder, "--json", "--ranking", "dense", *HASHING)
    last = row["hits"][-1]["id"]
    arguments = ["--explain", last, "--top-k", "1", "--index", folder, *HASHING]
    _, (explained,), _ = run(capsys, "search", "pump", "--json", *arguments)
    assert explained["explain"]["removed"]["rule"] == "beyond top_k"
    assert sum(explained["explain"]["terms"]["rrf"].values()) > 0
    _, _, text = run(capsys, "search", "pump", *arguments)
    assert "removed by rrf: beyond top_k" in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["pump", "--ranking", "best"], 2, "bm25, dense, hybrid, rerank"),
        ([], 2, "give one query"),
        (["pump", "--filter", "{"], 2, "not JSON"),
        (["pump", "--filter", '{"a": {"$like": 1}}'], 2, "$like"),
        (["pump", "--top-k", "0"], 2, "1 or more"),
        (["--queries", "no-such-file.jsonl"], 2, "no-such-file.jsonl"),
        (["pump", "--explain", "nothing"], 2, "no chunk 'nothing'"),
    ],
)
def test_a_usage_error_is_one_sentence_and_exit_code_2(
    capsys: Any, folder: str, arguments: list[str], code: int, words: str
) -> None:
    found, _, text = run(capsys, "search", *arguments, "--index", folder, "--json", *HASHING)
    assert found == code
    assert words in text
    assert text.count("\n") == 1


def test_a_missing_index_is_exit_code_3(capsys: Any, tmp_path: Path) -> None:
    code, _, text = run(capsys, "search", "pump", "--index", str(tmp_path / "none"), "--json", *HASHING)
    assert code == 3
    assert "rag-app index" in text


def test_the_table_shows_where_the_hits_are(capsys: Any, folder: str) -> None:
    code, _, text = run(capsys, "search", "holiday", "--index", folder, *HASHING)
    assert code == 0
    assert "holiday.txt" in text
