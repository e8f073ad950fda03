from __future__ import annotations

import datetime
import io
from collections.abc import Callable

import pytest

from rag_app.load.parsed import Parsed

pytestmark = pytest.mark.docs


def test_a_sheet_is_a_section_and_a_row_reads_as_header_and_value(parse: Callable[..., Parsed]) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Prices"
    for row in (
        ["Part", "Price", "Share", "From"],
        ["Hose", 5.0, 0.25, datetime.date(2024, 5, 1)],
        ["Filter", 7.5, None, None],
    ):
        sheet.append(row)
    sheet["C2"].number_format = "0%"
    other = book.create_sheet("Notes")
    other["B3"] = "A single remark"
    book.create_sheet("Empty")
    out = io.BytesIO()
    book.save(out)
    parsed = parse(out.getvalue(), "a.xlsx")
    assert parsed.text == (
        "Prices\n\nPart: Hose; Price: 5; Share: 25%; From: 2024-05-01\nPart: Filter; Price: 7.5\n\n"
        "Notes\n\nA single remark"
    )
    assert [title for _, _, title in parsed.headings] == ["Prices", "Notes"]
    assert parsed.metadata["document_type"] == "table"
