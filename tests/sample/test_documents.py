"""The sample corpus is what it says it is: these tests read the files themselves and need no loader, no model."""

from __future__ import annotations

import ast
import csv
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from rag_app.sample import DEMO_QUESTIONS, documents_path, questions

FACTS_THAT_DISAGREE = {
    "days of remote work": (
        ("employee_handbook.md", "work from home two days a week"),
        ("board_memo.md", "work from home three days a week"),
    ),
    "warranty": (
        ("support_faq.html", "a warranty of 24 months"),
        ("release_notes.md", "a warranty of 36 months"),
    ),
    "dry-run protection": (
        ("support_faq.html", "no flow for 20 seconds"),
        ("release_notes.md", "after 12 seconds without flow"),
    ),
    "days of payment": (
        ("supply_contract.txt", "due 45 days after receipt"),
        ("production_meeting.txt", "Terms are net 30"),
    ),
    "price of a ceramic cartridge": (
        ("price_list.csv", "38.50"),
        ("support_email.txt", "$34.00"),
    ),
}
SENTENCES_IN_TWO_FILES = (
    "Always close the inlet valve and relieve the pressure before you open the housing.",
    "Damage caused by running the pump dry is not covered by the warranty.",
)


def words(path: Path) -> str:
    """The text of a file with single spaces: lines may break anywhere."""
    return " ".join(path.read_text(encoding="utf-8").split())


def test_there_are_about_a_dozen_documents_of_seven_formats() -> None:
    files = sorted(documents_path().iterdir())
    assert len(files) == 13
    assert {file.suffix for file in files} == {".md", ".txt", ".html", ".pdf", ".csv", ".py"}


@pytest.mark.parametrize("name", FACTS_THAT_DISAGREE)
def test_some_facts_stand_in_two_documents_and_disagree(name: str) -> None:
    for file, statement in FACTS_THAT_DISAGREE[name]:
        assert statement in words(documents_path() / file)


@pytest.mark.parametrize("sentence", SENTENCES_IN_TWO_FILES)
def test_some_sentences_stand_in_two_files(sentence: str) -> None:
    holders = [f.name for f in documents_path().iterdir() if f.suffix not in {".pdf"} and sentence in words(f)]
    assert len(holders) == 2


def test_the_price_list_is_a_table_without_gaps() -> None:
    with (documents_path() / "price_list.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 26
    assert len({row["part_number"] for row in rows}) == 26
    assert all(float(row["list_price_usd"]) > 0 and None not in row for row in rows)


def test_the_python_module_runs_and_chooses_a_pump() -> None:
    path = documents_path() / "pump_sizing.py"
    spec = importlib.util.spec_from_file_location("pump_sizing", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pump_sizing"] = module
    try:
        spec.loader.exec_module(module)
        assert module.choose_pump(12).name == "MX-200"
        assert module.choose_pump(30, lift=8.0).name == "MX-400"
        with pytest.raises(module.SizingError, match="submersible"):
            module.choose_pump(12, suction_lift=9.0)
    finally:
        del sys.modules["pump_sizing"]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert all(ast.get_docstring(node) for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))


def test_the_datasheet_is_what_its_program_makes(tmp_path: Path, root: Path) -> None:
    pytest.importorskip("reportlab", reason="reportlab is not installed (extra `dev`)")
    made = tmp_path / "datasheet.pdf"
    program = root / "benchmarks" / "sample" / "make_datasheet.py"
    subprocess.run([sys.executable, str(program), str(made)], check=True)
    assert made.read_bytes() == (documents_path() / "mx400_datasheet.pdf").read_bytes()


def test_the_demo_questions_are_sample_questions_and_only_the_last_has_no_answer() -> None:
    by_text = {question.question: question for question in questions()}
    assert [by_text[text].answerable for text in DEMO_QUESTIONS] == [True, True, False]
    handbook, limit, _ = ({gold.source for gold in by_text[text].gold} for text in DEMO_QUESTIONS)
    assert handbook == {"employee_handbook.md"}
    assert limit == {"mx400_datasheet.pdf", "support_faq.html", "safety_bulletin.md"}
