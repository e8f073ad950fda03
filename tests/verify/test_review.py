"""Flagged claims go to a file, a person judges them, and the file is evaluation data."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from rag_app.cli import eval_verify as eval_command
from rag_app.cli import verify as command
from rag_app.types import ConfigError
from rag_app.verify import Verifier
from rag_app.verify.review import read_rows, record

app = typer.Typer()
command.register(app)
eval_command.register(app)
TEXT = "Pangolins invented the moon [1]. The ferry leaves twice a day [1]."
SOURCES = ["The ferry leaves twice a day."]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "review.jsonl"
    Verifier(review_file=str(path)).invoke({"text": TEXT, "documents": SOURCES, "question": "What is new?"})
    return path


def test_only_flagged_claims_are_written(file) -> None:
    rows = read_rows(file)
    assert [row["claim"] for row in rows] == ["Pangolins invented the moon"]
    assert rows[0]["sources"] == SOURCES


def test_a_person_judges_and_the_file_is_evaluation_data(file) -> None:
    result = CliRunner().invoke(app, ["review", str(file)], input="n\n")
    assert result.exit_code == 0
    assert "Pangolins" in result.stdout
    assert read_rows(file)[0]["label"] == "not_found"
    report = CliRunner().invoke(app, ["verify", str(file), "--json"])
    assert json.loads(report.stdout)["claims"] == 1


def test_skipping_leaves_the_claim_waiting(file) -> None:
    CliRunner().invoke(app, ["review", str(file)], input="\n")
    assert read_rows(file)[0]["label"] is None


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(ConfigError, match="no file"):
        read_rows(tmp_path / "none.jsonl")


def test_only_a_newline_ends_a_row(file) -> None:
    row = {**read_rows(file)[0], "claim": "one\u2028two\u0085three"}
    file.write_text("\n" + json.dumps(row, ensure_ascii=False) + "\n\n[1]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="line 4"):
        read_rows(file)
    file.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [row["claim"] for row in read_rows(file)] == ["one\u2028two\u0085three"]


def test_a_key_that_is_none_is_asked_again_and_skips_nothing(file) -> None:
    result = CliRunner().invoke(app, ["review", str(file)], input="?\nzebra\nsupported\n")
    assert read_rows(file)[0]["label"] == "supported"
    assert result.stdout.count("Keys:") == 3


def test_a_claim_without_evidence_is_shown_with_its_sources(file) -> None:
    row = {**read_rows(file)[0], "evidence": [], "sources": ["word " * 500]}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    shown = CliRunner().invoke(app, ["review", str(file)], input="q\n").stdout
    assert "evidence: none was found" in shown
    assert "source:   word word" in shown
    assert len(shown) < 1000


def test_too_few_judged_claims_to_leave_some_out_are_said_to_be_so(file) -> None:
    row = read_rows(file)[0]
    rows = [{**row, "label": "not_found"}, {**row, "claim": SOURCES[0], "label": "supported"}]
    file.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    shown = " ".join(CliRunner().invoke(app, ["calibrate", str(file)]).stdout.split())
    assert "on other claims unknown" in shown
    assert "None" not in shown


def test_the_end_of_the_input_ends_the_review_and_the_next_one_goes_on(file) -> None:
    Verifier(review_file=str(file)).invoke({"text": "Cats sing in Paris [1]. Dogs own Rome [1].", "documents": SOURCES})
    result = CliRunner().invoke(app, ["review", str(file)], input="n\n")
    assert result.exit_code == 0
    assert "1 of 3 claims are judged" in result.stdout
    result = CliRunner().invoke(app, ["review", str(file)], input="c\nx\n")
    assert [row["label"] for row in read_rows(file)] == ["not_found", "contradicted", "not_checkable"]
    report = CliRunner().invoke(app, ["verify", str(file), "--json"])
    assert json.loads(report.stdout)["claims"] == 2  # one is not checkable


def test_what_is_appended_during_a_review_stays(file) -> None:
    rows = read_rows(file)
    with file.open("a", encoding="utf-8") as more:
        more.write(json.dumps({**rows[0], "claim": "Cats sing."}) + "\n")
    record(file, 0, rows[0]["claim"], "not_found")
    assert [(row["claim"], row["label"]) for row in read_rows(file)][1:] == [("Cats sing.", None)]
    with pytest.raises(ConfigError, match="was changed"):
        record(file, 0, "Dogs sing.", "not_found")


def test_many_threads_append_whole_lines(tmp_path) -> None:
    path = tmp_path / "review.jsonl"
    text = " ".join(f"Pangolins invented the moon {n} times [1]." for n in range(30))
    verifier = Verifier(review_file=str(path))
    verifier.batch([{"text": text, "documents": [f"{n} " * 3000]} for n in range(8)])
    assert len(read_rows(path)) == 8 * 30


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 1 is no JSON"),
        ("[1]", 'no text under "claim"'),
        ('{"claim": 5}', 'no text under "claim"'),
        ('{"claim": "x", "evidence": "y"}', 'under "evidence"'),
        ('{"claim": "x", "evidence": [{"a": 1}]}', "source and text"),
        ('{"claim": "x", "checks": [{}]}', 'under "checks"'),
        ('{"claim": "x", "machine": 5}', 'under "machine"'),
    ],
)
def test_a_line_that_is_no_claim_to_review_is_named(tmp_path, line: str, said: str) -> None:
    path = tmp_path / "review.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        read_rows(path)


def test_a_file_that_is_no_text_is_named(tmp_path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_rows(tmp_path / "x")


def test_a_claim_cannot_steer_the_terminal(file) -> None:
    row = {**read_rows(file)[0], "claim": "\x1b[2Jgone\x07", "question": "a\x9bb"}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    shown = CliRunner().invoke(app, ["review", str(file)], input="q\n").stdout
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)


def test_a_label_that_is_none_is_named(file) -> None:
    row = {**read_rows(file)[0], "label": "perhaps"}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert "of 1 claims wait" in CliRunner().invoke(app, ["review", str(file)], input="q\n").stdout
    result = CliRunner().invoke(app, ["verify", str(file), "--json"])
    assert "partially_supported" in str(result.exception)


def test_verify_writes_what_needs_a_review(tmp_path) -> None:
    path = tmp_path / "flagged.jsonl"
    rows = [{"id": str(n), "claim": claim, "sources": SOURCES} for n, claim in enumerate(TEXT.split(". "))]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    own = typer.Typer()
    command.register(own)
    done = CliRunner().invoke(own, ["verify", "--json", "--set", f"verify.review_file={path}"], input=lines)
    assert done.exit_code == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["0", "1"]
    (row,) = read_rows(path)
    assert "Pangolins" in row["claim"]
    assert row["machine"]["label"] == json.loads(done.stdout.splitlines()[0])["label"]


def test_a_review_file_that_cannot_be_written_loses_no_report(tmp_path) -> None:
    verifier = Verifier(review_file=str(tmp_path / "none" / "review.jsonl"))
    report = verifier.invoke({"text": TEXT, "documents": SOURCES})
    assert len(report.verdicts) == 2
    assert any("cannot be written: No such file" in warning for warning in report.warnings)


def test_plain_claims_are_no_review_file(tmp_path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(json.dumps({"claim": "Cats sing.", "sources": ["Cats sleep."], "label": None}) + "\n")
    with pytest.raises(ConfigError, match='line 1 has no object under "machine", so it is no claim that was flagged'):
        read_rows(path)
