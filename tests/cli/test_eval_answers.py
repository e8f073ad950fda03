"""`rag-app eval answers` and `eval calibrate` on its rows, end to end on a small folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_app.cli import main

SETTINGS = ["--set", "embed.kind=hashing", "--set", "rerank.kind=none"]
DOCUMENTS = {
    "pump.txt": "The MX pump has a warranty of 24 months from the date of purchase. Its filter is changed every June.",
    "memo.txt": "The MX pump has a warranty of 36 months from the date of purchase. Lunch is at noon.",
    "cats.txt": "Cats sleep for sixteen hours a day and purr when they are happy.",
}
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": 1,
        "question": "What is the warranty of the MX pump?",
        "answers": ["24 months"],
        "other_answers": "36 months",
    },
    {"id": 2, "question": "How many hours a day do cats sleep?", "answers": [["sixteen", "16"]]},
    {"id": 3, "question": "Who founded the city of Rome?", "answerable": False},
    {"id": 4, "question": "Which color has Neptune at midnight?", "answerable": False},
]


def run(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([*arguments])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.fixture
def folder(tmp_path: Path, capsys: Any) -> Path:
    (tmp_path / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    lines = "".join(json.dumps(row) + "\n" for row in QUESTIONS)
    (tmp_path / "qa.jsonl").write_text(lines, encoding="utf-8")
    assert run(capsys, "index", str(tmp_path / "docs"), "--index", str(tmp_path / "index"), *SETTINGS)[0] == 0
    return tmp_path


def test_the_figures_come_as_one_json_line_and_the_rows_calibrate(folder: Path, capsys: Any) -> None:
    asked = ["eval", "answers", str(folder / "qa.jsonl"), "--index", str(folder / "index"), *SETTINGS]
    code, out, _ = run(capsys, *asked, "--rows", str(folder / "rows.jsonl"), "--json")
    assert code == 0
    figures = json.loads(out)
    assert (figures["questions"], figures["answerable"], figures["unanswerable"]) == (4, 2, 2)
    assert figures["conflicts"]["named"] == 1
    assert figures["citation_recall"] == 1
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], row["reranker"], row["conflict"]) for row in rows] == [
        ("1", "none", True),
        ("2", "none", False),
        ("3", "none", False),
        ("4", "none", False),
    ]
    code, out, _ = run(capsys, "eval", "calibrate", str(folder / "rows.jsonl"))
    assert code == 0
    assert out.startswith("--set rerank.kind=none --set synthesize.kind=extractive --set synthesize.threshold=0.")
    settings = [word for word in out.splitlines()[0].split() if "=" in word]
    again = [*asked, "--json", *(part for setting in settings for part in ("--set", setting))]
    figures = json.loads(run(capsys, *again)[1])
    assert figures["wrongly_answered"] == 0
    assert figures["right"] >= 3 / 4


def test_people_get_a_table(folder: Path, capsys: Any) -> None:
    asked = ["eval", "answers", str(folder / "qa.jsonl"), "--index", str(folder / "index"), *SETTINGS]
    code, out, _ = run(capsys, *asked)
    assert code == 0
    assert "citation_recall" in out
    assert "conflicts_named" in out


def test_questions_that_are_no_json_lines_are_named(folder: Path, capsys: Any) -> None:
    (folder / "qa.jsonl").write_text("[1]\n", encoding="utf-8")
    code, _, err = run(capsys, "eval", "answers", str(folder / "qa.jsonl"), "--index", str(folder / "index"), *SETTINGS)
    assert code != 0
    assert "line 1" in err
