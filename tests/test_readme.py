"""The README tells the truth: each of its code blocks runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rag_app.sample import documents_path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:<!-- (?P<name>[\w ]+) -->\n)?```(?P<language>\w*)\n(?P<code>.*?)```", re.DOTALL)
BLOCKS = [match.groupdict() for match in BLOCK.finditer(README)]
PYTHON = [block["code"] for block in BLOCKS if block["language"] == "python"]
SHELL = [block["code"] for block in BLOCKS if block["language"] == "sh" and not block["name"]]
NAMED = {block["name"]: block["code"] for block in BLOCKS if block["name"]}


def environment(**more: str) -> dict[str, str]:
    """The tests' environment with this interpreter's scripts first."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **more}


def run(code: str, place: Path, **more: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=place,
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few documents in `docs`, as a reader would have."""
    folder = tmp_path_factory.mktemp("reader")
    (folder / "docs").mkdir()
    for name in ("support_faq.html", "release_notes.md", "supply_contract.txt"):
        shutil.copy(documents_path() / name, folder / "docs" / name)
    return folder


def test_every_block_is_of_a_language_that_is_tested_here() -> None:
    assert {block["language"] for block in BLOCKS} <= {"python", "sh", "yaml", ""}
    assert PYTHON
    assert SHELL
    assert set(NAMED) == {"demo command", "test command"}


@pytest.mark.model
@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_the_python_blocks_run(code: str, place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", code],
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.model
def test_the_shell_blocks_run_in_their_order(place: Path) -> None:
    # A chat model is asked over real HTTP: the blocks' server, and OpenAI's own address, are ours.
    from openai_server import ChatServer, Step

    with ChatServer(script=[Step(reply="The warranty is 24 months [1].")]) as server:
        for code in SHELL:
            code = code.replace("http://127.0.0.1:8000/v1", server.base_url)
            run(code, place, OPENAI_API_KEY="test", OPENAI_BASE_URL=server.base_url, OPENAI_API_BASE=server.base_url)
        assert len(server.requests) >= 2


@pytest.mark.model
def test_the_demo_command_ends_in_the_demo_which_answers_two_and_abstains_once(place: Path) -> None:
    assert NAMED["demo command"].rstrip().endswith("rag-app demo")
    shown = run("rag-app demo", place)
    assert shown.count("[1]") >= 2
    assert shown.count("abstained") == 1


def test_ci_runs_the_readmes_own_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    body = script[script.index("readme_test_command() {") : script.index("run_readme_tests() {")]
    assert run(f"{body}\nreadme_test_command", ROOT) == NAMED["test command"]


def test_both_commands_install_what_was_tested() -> None:
    for code in NAMED.values():
        assert "-c constraints.txt" in code
