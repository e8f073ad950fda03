"""`rag-app split` and `rag-app eval chunks` as other programs drive them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_app.cli import main

KINDS = ("recursive", "sentence", "parent", "markdown", "html", "code", "page", "auto")
TEXT = "# Manual\n\nThe pump costs ten dollars. It is blue.\n\n## Care\n\nClean the filter. Dry it.\n"


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, object]], str]:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stopped.value.code or 0), [json.loads(line) for line in captured.out.splitlines()], captured.err


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    path = tmp_path / "manual.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_every_chunk_is_the_slice_of_the_loaded_text(
    kind: str, manual: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, loaded, _ = _run(capsys, "load", str(manual), "--json")
    code, chunks, errors = _run(capsys, "split", str(manual), "--splitter", kind, "--json")
    text, doc_id = str(loaded[0]["text"]), loaded[0]["doc_id"]
    assert code == 0
    assert not errors
    for chunk in chunks:
        start, end = int(str(chunk["start"])), int(str(chunk["end"]))
        assert chunk["text"] == text[start:end]
        assert chunk["id"] == f"{doc_id}:{start}-{end}"
        assert {"source", "page", "section_path"} <= set(chunk)
    if kind == "sentence":
        assert "window" in chunks[0]
    if kind == "parent":
        assert "parent" in chunks[0]


def test_a_file_that_fails_is_a_line_and_exit_code_1(
    manual: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    code, rows, _ = _run(capsys, "split", str(tmp_path), "--json")
    assert code == 1
    assert [row["source"] for row in rows if "error" in row] == ["broken.pdf"]
    assert any(row.get("source") == "manual.md" for row in rows)


def test_an_unknown_kind_is_a_usage_error(manual: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, rows, errors = _run(capsys, "split", str(manual), "--splitter", "magic", "--json")
    assert (code, rows) == (2, [])
    assert "'magic'" in errors


def test_eval_chunks_reports_checkpoints_of_any_files(manual: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, rows, _ = _run(capsys, "eval", "chunks", str(manual), "--json")
    assert code == 0
    assert rows[0]["checkpoints"]["passed"] is True  # type: ignore[index]
    assert "scores" not in rows[0]


def test_eval_chunks_scores_against_gold_spans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "s", "text": TEXT}) + "\n", encoding="utf-8")
    row = {"question": "pump dollars", "doc_id": "s", "references": [{"start_index": 10, "end_index": 37}]}
    (tmp_path / "qa.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    code, rows, _ = _run(capsys, "eval", "chunks", str(tmp_path), "--json", "--set", "embed.kind=hashing")
    assert code == 0
    assert rows[0]["scores"]["recall"] == 1.0  # type: ignore[index]


def test_a_splitter_named_on_the_line_takes_its_own_settings(manual: Path, capsys: pytest.CaptureFixture[str]) -> None:
    big = _run(capsys, "split", str(manual), "--splitter", "recursive", "--set", "split.chunk_size=2000", "--json")
    small = _run(capsys, "split", str(manual), "--splitter", "recursive", "--set", "split.chunk_size=40", "--json")
    assert big[0] == small[0] == 0
    assert len(small[1]) > len(big[1])
