from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from rag_app.load.parsed import Parsed

pytestmark = pytest.mark.docs


def saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.write(out)
    return out.getvalue()


def test_a_text_has_headings_lists_and_tables(parse: Callable[..., Parsed]) -> None:
    from odf.opendocument import OpenDocumentText
    from odf.table import Table, TableCell, TableRow
    from odf.text import H, List, ListItem, P

    document = OpenDocumentText()
    document.text.addElement(H(outlinelevel=2, text="Pumps"))
    document.text.addElement(P(text="The pump runs."))
    items = List()
    for text in ("Filter", "Hose"):
        item = ListItem()
        item.addElement(P(text=text))
        items.addElement(item)
    document.text.addElement(items)
    table = Table()
    for cells in (("a", "b"), ("1", "2")):
        row = TableRow()
        for text in cells:
            cell = TableCell()
            cell.addElement(P(text=text))
            row.addElement(cell)
        table.addElement(row)
    document.text.addElement(table)
    parsed = parse(saved(document), "a.odt")
    assert parsed.text == "Pumps\n\nThe pump runs.\n\n- Filter\n- Hose\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert parsed.headings == ((0, 2, "Pumps"),)


def test_a_spreadsheet_reads_like_a_table_of_data(parse: Callable[..., Parsed]) -> None:
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    document = OpenDocumentSpreadsheet()
    table = Table(name="Prices")
    for cells in (("Part", "Price"), ("Hose", "5"), ("Filter", "7")):
        row = TableRow()
        for text in cells:
            cell = TableCell()
            cell.addElement(P(text=text))
            row.addElement(cell)
        row.addElement(TableCell(numbercolumnsrepeated=1000))
        table.addElement(row)
    document.spreadsheet.addElement(table)
    assert parse(saved(document), "a.ods").text == "Prices\n\nPart: Hose; Price: 5\nPart: Filter; Price: 7"
