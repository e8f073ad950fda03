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


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_each_hit_is_shown_with_its_place_its_ranks_and_its_text(
    capsys: Any, folder: str, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    code, _, text = run(capsys, "search", "holiday", "--index", folder, *HASHING)
    assert code == 0
    _, (row,), _ = run(capsys, "search", "holiday", "--index", folder, "--json", *HASHING)
    lines = text.splitlines()
    assert max(map(len, lines)) <= int(width)
    for hit in row["hits"]:
        start = next(i for i, line in enumerate(lines) if line.startswith(f"{hit['rank']:>3} {hit['source']}"))
        assert hit["id"] in lines[start]
        ranks = ", ".join(f"{name} {place['rank']}" for name, place in hit["stages"].items())
        assert lines[start + 1].strip() == f"{hit['score']:.4f}  {ranks}"
        assert " ".join(hit["text"].split()).startswith(lines[start + 2].strip())


def test_a_search_without_hits_says_so(capsys: Any, folder: str) -> None:
    _, _, text = run(capsys, "search", "[zzz]", "--ranking", "bm25", "--index", folder, *HASHING)
    assert text.strip() == "nothing found for '[zzz]'"


def test_a_file_in_place_of_the_folder_is_told(capsys: Any, tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    file.write_text("the pump")
    code, _, text = run(capsys, "search", "pump", "--index", str(file), *HASHING)
    assert code == 3
    assert "file.txt is a file, and an index is a folder; name the folder" in text
    code, _, text = run(capsys, "index", str(file), "--index", str(file), *HASHING)
    assert code == 2
    assert "file.txt is a file, and an index is a folder" in text


def test_a_long_filter_that_is_no_filter_is_not_repeated_in_full(capsys: Any, folder: str) -> None:
    for filter in ('{"a":' * 9000 + "1" + "}" * 9000, '{"$not":' * 300 + "{}" + "}" * 300):
        code, _, text = run(capsys, "search", "pump", "--index", folder, "--filter", filter, *HASHING)
        assert code == 2
        assert len(text) < 400


def test_explain_knows_the_filter_of_the_command_and_of_the_row(capsys: Any, folder: str, tmp_path: Path) -> None:
    _, (row,), _ = run(capsys, "search", "holiday", "--index", folder, "--json", *HASHING)
    first = row["hits"][0]
    file = tmp_path / "queries.jsonl"
    file.write_text(json.dumps({"query": "holiday", "filter": {"source": first["source"]}}))
    arguments = ["--queries", str(file), "--filter", '{"source": "nowhere"}', "--explain", first["id"], "--json"]
    _, (explained,), _ = run(capsys, "search", *arguments, "--index", folder, *HASHING)
    assert explained["hits"] == []
    assert explained["explain"]["removed"]["rule"] == "filtered"
