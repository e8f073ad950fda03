"""The command line as others drive it: exit codes, one sentence per fault, JSON alone on standard output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from rag_app.cli import main

HASHING = ["--set", "embed.kind=hashing", "--set", "rerank.kind=none"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(stopped.value.code or 0), out, err


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "pump.md").write_text("# Pump\n\nReplace the filter every 6 months.\n", encoding="utf-8")
    return folder


@pytest.fixture
def index(docs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    place = tmp_path / "index"
    code, out, _ = run(capsys, "index", str(docs), "--index", str(place), "--json", *HASHING)
    assert code == 0
    assert json.loads(out)["added"] == 1
    return place


def assert_one_sentence(err: str, *parts: str) -> None:
    lines = [line for line in err.splitlines() if line.strip()]
    assert len(lines) == 1, err
    assert lines[0].startswith("error: ")
    assert "Traceback" not in err
    for part in parts:
        assert part in lines[0]


def test_an_index_that_does_not_exist_is_exit_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for command in (["ask", "q"], ["search", "q"], ["info"]):
        code, out, err = run(capsys, *command, "--index", str(tmp_path / "none"), *HASHING)
        assert (code, out) == (3, "")
        assert_one_sentence(err, "none")


def test_an_index_built_with_another_embedder_is_exit_code_3(capsys: pytest.CaptureFixture[str], index: Path) -> None:
    other = ["--set", "embed.kind=hashing", "--set", "embed.dimensions=32"]
    code, out, err = run(capsys, "ask", "q", "--index", str(index), *other)
    assert (code, out) == (3, "")
    assert_one_sentence(err, "--re")


def test_an_unknown_setting_is_exit_code_2(capsys: pytest.CaptureFixture[str], index: Path) -> None:
    code, out, err = run(capsys, "ask", "q", "--index", str(index), "--set", "retrieve.topk=3")
    assert (code, out) == (2, "")
    assert_one_sentence(err, "retrieve.topk", "top_k")


def test_a_chat_model_without_a_key_is_exit_code_2(
    capsys: pytest.CaptureFixture[str], index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, out, err = run(capsys, "ask", "How often?", "--index", str(index), "--config", "openai", *HASHING)
    assert (code, out) == (2, "")
    assert_one_sentence(err, "OPENAI_API_KEY")


@pytest.mark.parametrize("command", [["load"], ["split"], ["index"]])
def test_a_missing_path_is_reported_and_is_exit_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, docs: Path, command: list[str]
) -> None:
    place = ["--index", str(tmp_path / "i")] if command == ["index"] else []
    code, out, _ = run(capsys, *command, str(tmp_path / "gone"), str(docs), "--json", *place, *HASHING)
    assert code == 1
    rows = [json.loads(line) for line in out.splitlines()]
    failures = rows[0]["failed"] if command == ["index"] else [row for row in rows if "error" in row]
    assert len(failures) == 1
    assert "gone" in failures[0]["source"]


def test_an_empty_folder_is_reported_and_is_exit_code_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    code, out, _ = run(capsys, "load", str(empty), "--json", *HASHING)
    assert code == 1
    assert "error" in json.loads(out)


def test_usage_errors_are_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "nonsense")[0] == 2
    assert run(capsys, "ask")[0] == 2


def test_the_traceback_shows_only_with_debug(tmp_path: Path) -> None:
    arguments = ["ask", "q", "--index", str(tmp_path / "none")]
    quiet = program(*arguments)
    loud = program(*arguments, "--debug")
    assert quiet.returncode == 3
    assert "Traceback" not in quiet.stderr
    assert "Traceback" in loud.stderr


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from rag_app.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env={**os.environ}
    )


def test_ask_prints_the_answer_as_json_and_nothing_else(capsys: pytest.CaptureFixture[str], index: Path) -> None:
    code, out, _ = run(capsys, "ask", "How often is the filter replaced?", "--index", str(index), "--json", *HASHING)
    assert code == 0
    answer = json.loads(out)
    assert {"question", "text", "citations", "verdicts", "trace", "abstained", "warnings", "usage", "timings"} <= set(
        answer
    )


def test_ask_streams_one_event_a_line_and_ends_with_the_answer(capsys: pytest.CaptureFixture[str], index: Path) -> None:
    code, out, _ = run(capsys, "ask", "How often is the filter replaced?", "--index", str(index), "--stream", *HASHING)
    assert code == 0
    events = [json.loads(line) for line in out.splitlines()]
    assert events[0]["type"] == "retrieval"
    assert events[-1]["type"] == "done"
    assert events[-1]["answer"]["question"] == "How often is the filter replaced?"


def test_ask_writes_the_evidence_report(capsys: pytest.CaptureFixture[str], index: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    code, _, _ = run(
        capsys, "ask", "How often is the filter replaced?", "--index", str(index), "--html", str(page), *HASHING
    )
    assert code == 0
    text = page.read_text(encoding="utf-8")
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert "every 6 months" in text


def test_a_report_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    code, _, err = run(capsys, "ask", "filter?", "--index", str(index), "--html", str(tmp_path / "r.html"), *HASHING)
    assert (code, "cannot be written (Permission denied); name another file" in " ".join(err.split())) == (2, True)


def test_a_report_into_a_folder_that_is_not_there_is_told_before_any_work(
    capsys: pytest.CaptureFixture[str], index: Path, tmp_path: Path
) -> None:
    code, out, err = run(capsys, "ask", "q", "--index", str(index), "--html", str(tmp_path / "no" / "r.html"), *HASHING)
    assert (code, out) == (2, "")
    assert_one_sentence(err, "no")


def test_a_filter_that_is_not_json_is_exit_code_2(capsys: pytest.CaptureFixture[str], index: Path) -> None:
    code, _, err = run(capsys, "ask", "q", "--index", str(index), "--filter", "{source:", *HASHING)
    assert code == 2
    assert_one_sentence(err, "--filter")


def test_settings_are_yaml_that_resolves_to_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "settings", *HASHING)
    assert code == 0
    file = tmp_path / "mine.yaml"
    file.write_text(out, encoding="utf-8")
    assert run(capsys, "settings", "--config", str(file))[1] == out
    schema = json.loads(run(capsys, "settings", "--schema")[1])
    assert schema["properties"].keys() >= {
        "load",
        "split",
        "embed",
        "index",
        "retrieve",
        "rerank",
        "synthesize",
        "verify",
    }


def test_info_is_the_pipeline_card(capsys: pytest.CaptureFixture[str], index: Path) -> None:
    code, out, _ = run(capsys, "info", "--index", str(index), "--json", *HASHING)
    assert code == 0
    card = json.loads(out)
    assert card["index"]["documents"] == 1
    assert {"chunking", "embedding", "retrieval", "reranking", "synthesis", "verification"} <= set(card)
    assert "no model, nothing invented" in card["synthesis"]["why"]
    assert all(card[part]["why"] for part in card if part != "index")


def test_doctor_prints_a_remedy_whole_also_in_brackets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.doctor.EXTRAS", {"docs": (("no_such_package",), "file formats")})
    _, out, _ = run(capsys, "doctor", *HASHING)
    assert "pip install 'rag-app[docs]'" in " ".join(out.split())


def test_doctor_finds_a_healthy_index_healthy_and_a_damaged_one_damaged(
    capsys: pytest.CaptureFixture[str], index: Path
) -> None:
    code, out, _ = run(capsys, "doctor", "--index", str(index), "--json", *HASHING)
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    assert code == 0, checks
    assert checks["index files"]["outcome"] == "ok"
    victim = max(
        (path for path in index.rglob("*") if path.is_file() and path.suffix != ".json"), key=lambda p: p.stat().st_size
    )
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 0xFF
    victim.write_bytes(bytes(data))
    code, out, _ = run(capsys, "doctor", "--index", str(index), "--json", *HASHING)
    assert code == 3
    failed = [check for check in json.loads(out)["checks"] if check["outcome"] == "fail"]
    assert any(victim.name in check["finding"] for check in failed)


def test_sync_with_a_path_that_is_not_there_takes_nothing_out(
    capsys: pytest.CaptureFixture[str], index: Path, tmp_path: Path
) -> None:
    place = ["--index", str(index), *HASHING]
    code, out, err = run(capsys, "index", str(tmp_path / "unmounted"), "--sync", "--json", *place)
    assert (code, out) == (2, "")
    assert_one_sentence(err, "unmounted", "--delete")
    _, out, _ = run(capsys, "search", "filter", "--ranking", "bm25", "--json", *place)
    assert len(json.loads(out)["hits"]) == 1


def test_a_model_that_fails_is_told_in_the_json_too(
    capsys: pytest.CaptureFixture[str], index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    nowhere = ["--set", "synthesize.base_url=http://127.0.0.1:9/v1", "--set", "synthesize.max_retries=0"]
    llm = ["--set", "synthesize.kind=llm", "--set", "synthesize.model=openai:m", *nowhere]
    code, out, err = run(capsys, "ask", "How often?", "--json", "--index", str(index), *llm, *HASHING)
    assert code == 1
    assert_one_sentence(err)
    assert json.loads(out)["error"] == "ModelError"


def test_a_report_into_a_folder_is_refused_before_any_work(
    capsys: pytest.CaptureFixture[str], index: Path, tmp_path: Path
) -> None:
    code, out, err = run(capsys, "ask", "q", "--json", "--index", str(index), "--html", str(tmp_path), *HASHING)
    assert (code, out) == (2, "")
    assert_one_sentence(err, "folder")


def test_an_interruption_says_what_became_of_the_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise typer.Abort

    monkeypatch.setattr("rag_app.cli.program", lambda arguments: interrupted)
    code, out, err = run(capsys, "index", "docs", "--index", "docs.index")
    assert (code, out) == (130, "")
    assert "run it again to go on" in err
