"""XLSX with openpyxl: a sheet is a section, a row reads as "header: value"."""

from __future__ import annotations

import datetime
import io
import warnings
from collections.abc import Iterable
from typing import Any

from rag_app.load.archive import Archive, core_properties
from rag_app.load.parsed import Fault, Parsed, ReadOptions, TextBuilder
from rag_app.load.tables import row_lines, split_header
from rag_app.types import MissingExtraError

_MAX_ROWS = 200_000


def read_xlsx(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The workbook as one document: the values that the cells show, sheet by sheet."""
    archive = Archive(data, options)
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("openpyxl", "docs", "loading XLSX files") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions that play no part here
        try:
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        except (KeyError, ValueError, TypeError, OSError) as error:
            raise Fault("broken", f"the workbook cannot be opened: {error}") from None
        builder = TextBuilder()
        rows = 0
        for sheet in book.worksheets:
            sheet.reset_dimensions()
            rows += _sheet(sheet.title, sheet.iter_rows(max_row=_MAX_ROWS), builder)
        book.close()
    return [builder.build("xlsx", {**core_properties(archive), "rows": rows, "sheets": len(book.sheetnames)})]


def _sheet(title: str, cells: Iterable[Iterable[Any]], builder: TextBuilder) -> int:
    rows = [row for row in ([shown(cell) for cell in row] for row in cells) if any(row)]
    if not rows:
        return 0
    left = min(next(place for place, cell in enumerate(row) if cell) for row in rows)
    caption, header, body = split_header([row[left:] for row in rows])
    builder.heading(1, title)
    if caption:
        builder.block(caption)
    first = True
    for line in row_lines(header, body):
        builder.block(line, gap="\n\n" if first else "\n")
        first = False
    if header and not body:
        builder.block("; ".join(header))
    return len(body)


def shown(cell: Any) -> str:
    """A cell's value as a reader sees it: dates in ISO form, percentages as such, whole numbers without a point."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if "%" in (getattr(cell, "number_format", None) or ""):
            return f"{round(value * 100, 6):g}%"
        return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
