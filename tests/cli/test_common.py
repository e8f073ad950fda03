"""What all commands share: JSON that any terminal can take."""

from __future__ import annotations

import io
import json

import pytest

from rag_app.cli.common import emit


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
