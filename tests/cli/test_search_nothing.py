"""`rag-app search` says why nothing is found, where it can know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_app.cli import main

HASHING = ["--set", "embed.kind=hashing"]


def run(capsys: Any, *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stop:
        main([*arguments, *HASHING])
    return int(stop.value.code or 0), capsys.readouterr().err


@pytest.fixture
def index(tmp_path: Path, capsys: Any) -> str:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pump.txt").write_text("Reset the pump with the red lever.")
    run(capsys, "index", str(tmp_path / "docs"), "--index", str(tmp_path / "index"))
    return str(tmp_path / "index")


@pytest.mark.parametrize(
    ("filter", "said"),
    [
        ('{"sourc": "pump.txt"}', "no chunk has the field 'sourc'; did you mean 'source'?"),
        ('{"source": {"eq": "pump.txt"}}', ""),
        ('{"source": "another.txt"}', ""),
        ('{"source": "pump.txt"}', ""),
    ],
)
def test_a_field_that_no_chunk_has_is_named(capsys: Any, index: str, filter: str, said: str) -> None:
    code, err = run(capsys, "search", "pump", "--index", index, "--filter", filter)
    assert code == 0
    assert said in err
    assert bool(said) == ("warning" in err)


def test_an_index_without_chunks_is_named(capsys: Any, tmp_path: Path) -> None:
    empty = str(tmp_path / "empty")
    run(capsys, "index", str(tmp_path / "nope"), "--index", empty)
    code, err = run(capsys, "search", "pump", "--index", empty, "--json")
    assert code == 0
    assert f"the index {empty} is empty" in err
