from __future__ import annotations

import json
from pathlib import Path

import typer
from typer.testing import CliRunner

from rag_app.cli import load

app = typer.Typer()
app.callback()(lambda: None)
load.register(app)


def test_json_has_one_line_a_document_and_one_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Größe: 5 m\r\n", encoding="utf-8")
    (tmp_path / "b.pdf").write_bytes(b"no pdf")
    result = CliRunner().invoke(app, ["load", str(tmp_path), str(tmp_path / "gone.txt"), "--json"])
    document, broken, gone = map(json.loads, result.stdout.splitlines())
    assert result.exit_code == 1
    assert document["source"] == "a.txt"
    assert document["text"] == "Größe: 5 m"
    assert document["characters"] == 10
    assert document["page_count"] is None
    assert document["document_type"] == "prose"
    assert document["metadata"]["doc_id"] == document["doc_id"]
    assert (broken["source"], broken["error"]) == ("b.pdf", "broken")
    assert gone == {
        "source": str(tmp_path / "gone.txt"),
        "error": "missing",
        "reason": "there is no such file or folder",
    }


def test_people_see_a_table_and_which_files_are_equal(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Same.")
    result = CliRunner().invoke(app, ["load", str(tmp_path)])
    assert result.exit_code == 0
    assert "2 documents, 0 failures" in result.stdout
    assert "equal text: a.txt, b.txt" in result.stdout
