"""What all commands share: JSON that any terminal can take."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import pytest

from rag_app.cli import main, show_warning
from rag_app.cli.common import emit, file_lines, filter_from_json
from rag_app.types import ConfigError


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp1252"])
def test_json_comes_out_on_any_terminal_and_one_value_is_one_line(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding=encoding))
    value = {"a": "Größe → 水泵 \U0001f600 \ud83d", "b": "x\u2028y\x85z\u2029", "c": float("nan")}
    emit(value)
    text = raw.getvalue().decode(encoding)
    assert len(text.splitlines()) == 1
    assert json.loads(text) == {**value, "c": None}


def test_only_a_newline_ends_a_line_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes('\ufeff{"a": "x\u2028y\x85z"}\r\n\n{"a": 2}'.encode())
    assert [(number, json.loads(line)) for number, line in file_lines(file, "the rows")] == [
        (1, {"a": "x\u2028y\x85z"}),
        (3, {"a": 2}),
    ]
    with pytest.raises(ConfigError, match=r"the rows .* cannot be read"):
        list(file_lines(tmp_path / "nothing.jsonl", "the rows"))


@pytest.mark.parametrize("text", ["[1]", '"a"', "7"])
def test_a_filter_is_an_object(text: str) -> None:
    with pytest.raises(ConfigError, match="--filter"):
        filter_from_json(text)


def test_a_warning_is_one_line_and_the_caller_keeps_its_own_way_of_showing_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = warnings.showwarning
    with pytest.raises(SystemExit):
        main(["models", "--json"])
    assert warnings.showwarning is before
    show_warning("something is odd")
    assert capsys.readouterr().err == "warning: something is odd\n"
