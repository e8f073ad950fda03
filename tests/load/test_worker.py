from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_app.load.parsed import ReadOptions
from rag_app.load.worker import read_file


def test_facts_of_the_file_stand_in_the_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"text\r\n")
    (result,) = read_file(str(path), ReadOptions())
    assert result["text"] == "text"
    assert result["metadata"]["sha256"] == hashlib.sha256(b"text\r\n").hexdigest()
    assert result["metadata"]["size"] == 6
    assert result["metadata"]["mtime"].endswith("+00:00")


def test_a_file_that_cannot_be_opened_fails_with_the_systems_reason(tmp_path: Path) -> None:
    (result,) = read_file(str(tmp_path / "gone.txt"), ReadOptions())
    assert result["error"] == "unreadable"
    assert "No such file" in result["reason"]


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX only")
def test_a_name_that_is_no_unicode_gives_a_printable_title(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9.txt")
    with open(path, "wb") as file:
        file.write(b"x")
    (result,) = read_file(os.fsdecode(path), ReadOptions())
    assert result["metadata"]["title"] == "caf\\xe9"


def test_the_worker_answers_a_line_of_json_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    options = {"passwords": [], "text_field": None, "max_expanded": 1000, "depth": 1}
    task = {
        "files": [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")],
        "options": options,
        "seconds": 5,
        "memory_mb": 512,
    }
    done = subprocess.run(
        [sys.executable, "-m", "rag_app.load.worker"],
        input=json.dumps(task) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["results"][0]["text"] == "one"
    assert second["results"][0]["error"] == "unreadable"


def test_the_worker_imports_nothing_heavy() -> None:
    code = "import sys, rag_app.load.worker; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"torch", "transformers", "sentence_transformers", "faiss", "numpy", "pypdfium2", "lxml", "bs4", "openpyxl"}
    assert not heavy & set(modules)
