from __future__ import annotations

import json
from pathlib import Path

import pytest
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


def test_the_environment_sets_the_loader_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".a.txt").write_text("Hidden.")
    monkeypatch.setenv("RAG_APP_LOAD__HIDDEN", "true")
    assert CliRunner().invoke(app, ["load", str(tmp_path), "--json"]).exit_code == 0


def test_numbers_that_json_has_not_do_not_end_the_output(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nvalue: .nan\nlist: [.inf]\n---\nText.\n")
    (tmp_path / "b.txt").write_text("Text.")
    result = CliRunner().invoke(app, ["load", str(tmp_path), "--json"])
    assert [json.loads(line)["source"] for line in result.stdout.splitlines()] == ["a.md", "b.txt"]
