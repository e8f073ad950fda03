from __future__ import annotations

import importlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.load.kinds import FORMATS
from rag_app.load.parsed import Failed, Parsed, ReadOptions
from rag_app.load.read import READERS, attached, read

MARKS = (
    b"",
    b"%PDF-1.7\n",
    b"PK\x03\x04",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"{\\rtf1 ",
    b"<html>",
    b"\xff\xfe",
    b"From a 2020\n",
    b"{",
    b"---\n",
)


@pytest.mark.parametrize("kind", sorted(READERS))
def test_every_format_has_a_reader(kind: str) -> None:
    module, function = READERS[kind].split(":")
    assert callable(getattr(importlib.import_module(f"rag_app.load.{module}"), function))
    assert set(FORMATS.values()) <= set(READERS)


@settings(max_examples=150)
@given(st.sampled_from(MARKS), st.binary(max_size=200), st.sampled_from(sorted(FORMATS)))
def test_no_bytes_under_any_name_raise_or_vanish(mark: bytes, data: bytes, suffix: str) -> None:
    results = read(mark + data, f"a{suffix}", ReadOptions())
    assert results
    for result in results:
        assert result.reason if isinstance(result, Failed) else result.text.strip()


def test_a_file_inside_a_file_bears_both_names() -> None:
    (result,) = attached(b"text", "inner.txt", ReadOptions())
    assert isinstance(result, Parsed)
    assert result.part == "inner.txt"
    (failure,) = attached(b"text", "inner.txt", ReadOptions(depth=0))
    assert isinstance(failure, Failed)
    assert failure.error == "nested"


def test_a_files_own_metadata_does_not_speak_where_the_framework_does() -> None:
    front = b"title: [a, 1]\ndocument_type: 7\nparent: Guide\npage: 7\nsize: XL\nembed_text: x\nsource: y"
    (result,) = read(b"---\n" + front + b"\n---\n# A\n\nText.", "a.md", ReadOptions())
    assert isinstance(result, Parsed)
    assert not {"parent", "page", "size", "embed_text", "source"} & set(result.metadata)
    assert result.metadata["own_parent"] == "Guide"
    assert result.metadata["own_size"] == "XL"
    assert (result.metadata["title"], result.metadata["document_type"]) == ("a, 1", "7")
