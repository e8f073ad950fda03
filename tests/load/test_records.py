from __future__ import annotations

import json
from collections.abc import Callable

from rag_app.load.parsed import Failed, Parsed, ReadOptions
from rag_app.load.read import read


def test_whole_records_read_as_lines(parse: Callable[..., Parsed]) -> None:
    records = [{"sku": "A-1", "size": {"w": 5}, "tags": ["x", "y"], "none": None}, {"sku": "B-2"}]
    text = "sku: A-1\nsize.w: 5\ntags: x, y\n\nsku: B-2"
    assert parse(json.dumps(records), "a.json").text == text
    assert parse("\n".join(map(json.dumps, records)), "a.jsonl").text == text


def test_a_text_field_makes_each_record_a_document() -> None:
    data = b'{"id": 1, "body": {"text": "One."}, "lang": "en"}\n{"id": 2}\nbroken\n'
    results = read(data, "a.jsonl", ReadOptions(text_field="body.text"))
    first, missing, broken = results
    assert isinstance(first, Parsed)
    assert (first.text, first.part, first.metadata["lang"], first.metadata["record"]) == ("One.", "1", "en", 1)
    assert isinstance(missing, Failed)
    assert "no text in the field 'body.text'" in missing.reason
    assert isinstance(broken, Failed)
    assert (broken.part, broken.error) == ("line=3", "broken")


def test_broken_json_names_the_place(fail: Callable[..., Failed]) -> None:
    assert "line 1, column 5" in fail('{"a"', "a.json").reason
    assert fail("[" * 100_000, "a.json").error == "broken"


def test_a_notebook_reads_as_its_cells(parse: Callable[..., Parsed]) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text"]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]},
    ]
    parsed = parse(json.dumps({"cells": cells}), "a.ipynb")
    assert parsed.text == "# Title\nText\n\n```python\n1 + 1\n```\n\n```\n2\n```"
    assert parsed.headings == ((0, 1, "Title"),)


def test_notebooks_with_holes_are_read_and_other_json_is_none(
    parse: Callable[..., Parsed], fail: Callable[..., Failed]
) -> None:
    cell = {"cell_type": "code", "source": None, "outputs": [{"data": None}, {"text": ["out"]}, None]}
    book = {"metadata": {"kernelspec": None}, "cells": [cell, {"cell_type": "markdown", "source": ["# A"]}]}
    assert parse(json.dumps(book), "a.ipynb").text == "```\nout\n```\n\n# A"
    for cells in (3, [1], "x", {"a": 1}):
        assert "not a notebook" in fail(json.dumps({"cells": cells}), "a.ipynb").reason
