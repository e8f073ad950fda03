"""Source code: definitions whole, comments and decorators with what they belong to, context in `embed_text`."""

from __future__ import annotations

import importlib.util

import pytest
from langchain_core.documents import Document

from rag_app.split import CodeSplitter

PYTHON = '''"""A module."""

import os
from math import sqrt


def area(r):
    """The area of a circle."""
    return 3.14 * r * r


# Adds two numbers.
@cached
def add(a, b):
    return a + b


class Pump(Machine):
    """Moves water."""

    def start(self):
        self.running = True
        self.speed = sqrt(self.power)

    def stop(self):
        self.running = False
        self.log("stopped é")
'''
needs_grammar = pytest.mark.skipif(
    importlib.util.find_spec("tree_sitter_python") is None, reason="the grammars are not installed (extra `docs`)"
)


@needs_grammar
@pytest.mark.docs
def test_definitions_are_whole_with_their_comments_and_decorators() -> None:
    chunks = CodeSplitter(chunk_size=120, max_size=170, language="python").split_text(PYTHON)
    assert any(chunk.startswith("# Adds two numbers.\n@cached\ndef add") for chunk in chunks)
    assert any("def area" in chunk and "return 3.14 * r * r" in chunk for chunk in chunks)


@needs_grammar
@pytest.mark.docs
def test_a_method_knows_its_class_and_the_imports_it_uses() -> None:
    document = Document(page_content=PYTHON, metadata={"code_language": "python"})
    chunks = CodeSplitter(chunk_size=90, max_size=110).chunks(document)
    start = next(chunk for chunk in chunks if "def start" in chunk.page_content)
    assert start.metadata["section_path"] == ["class Pump(Machine)"]
    assert start.metadata["embed_text"] == f"from math import sqrt\nclass Pump(Machine)\n\n{start.page_content}"
    stop = next(chunk for chunk in chunks if "def stop" in chunk.page_content)
    assert "stopped é" in stop.page_content
    assert stop.metadata["embed_text"].startswith("class Pump(Machine)\n\n")
    assert "embed_text" not in chunks[0].metadata


@needs_grammar
@pytest.mark.docs
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", "function one() {\n  return 1;\n}\n\n// two\nfunction two() {\n  return 2;\n}\n"),
        ("typescript", "export function one(): number {\n  return 1;\n}\n\n// two\nclass Two {\n  x = 2;\n}\n"),
        ("java", "class One {\n  int x = 1;\n}\n\n// two\nclass Two {\n  int y = 2;\n}\n"),
        ("go", "func one() int {\n\treturn 1\n}\n\n// two\nfunc two() int {\n\treturn 2\n}\n"),
        ("rust", "fn one() -> i32 {\n    1\n}\n\n// two\n#[inline]\nfn two() -> i32 {\n    2\n}\n"),
        ("c", "int one(void) {\n  return 1;\n}\n\n// two\nint two(void) {\n  return 2;\n}\n"),
        ("ruby", "def one\n  first + 1000\nend\n\n# two\ndef two\n  second + 2000\nend\n"),
    ],
)
def test_every_grammar_cuts_between_definitions(language: str, text: str) -> None:
    first, second = CodeSplitter(chunk_size=45, max_size=60, language=language).split_text(text)
    assert second.lstrip("/# ").startswith("two")
    assert "two" not in first


def test_without_a_grammar_keywords_or_blank_lines_decide() -> None:
    kotlin = "fun one(): Int {\n    return 1\n}\nfun two(): Int {\n    return 2\n}\n"
    assert CodeSplitter(chunk_size=40, max_size=55, language="kotlin").split_text(kotlin) == [
        "fun one(): Int {\n    return 1\n}",
        "fun two(): Int {\n    return 2\n}",
    ]
    unknown = "[one]\nx = 1\ny = 2\n\n[two]\nz = 3\n"
    assert CodeSplitter(chunk_size=20, max_size=22).split_text(unknown) == ["[one]\nx = 1\ny = 2", "[two]\nz = 3"]
