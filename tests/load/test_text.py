from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_app.load.parsed import Failed, Parsed


def test_text_is_normalized_once_and_its_encoding_noted(parse: Callable[..., Parsed]) -> None:
    parsed = parse("\ufeff  a\r\n\x07b  \r\n", "a.txt")
    assert parsed.text == "a\nb"
    assert parsed.metadata["encoding"] == "utf-8"


@pytest.mark.parametrize(
    ("name", "language"), [("a.py", "python"), ("A.RS", "rust"), ("Makefile", "make"), ("x.yml", "yaml")]
)
def test_source_code_is_known_by_its_name(parse: Callable[..., Parsed], name: str, language: str) -> None:
    parsed = parse("def f():\n    return 1\n", name)
    assert parsed.text == "def f():\n    return 1"
    assert parsed.metadata["document_type"] == "code"
    assert parsed.metadata["code_language"] == language


def test_a_file_without_text_fails(fail: Callable[..., Failed]) -> None:
    assert fail("", "a.txt").error == "empty"
    assert fail(" \n\t ", "a.txt").error == "empty"
    assert fail("\ufeff", "a.txt").error == "empty"
