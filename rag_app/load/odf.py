"""OpenDocument text, tables and slides, read from their XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rag_app.load.archive import Archive, attribute, local
from rag_app.load.parsed import Fault, Parsed, ReadOptions, TextBuilder, clean
from rag_app.load.tables import pipe_table, row_lines, split_header

_META = {
    "title": "title", "initial-creator": "author", "creator": "author", "creation-date": "created", "date": "modified",
    "subject": "subject", "language": "language",
}  # fmt: skip
_LEFT_OUT = ("annotation", "tracked-changes", "forms", "sequence-decls", "table-of-content-source", "notes")
_MAX_REPEAT = 1000


def read_odf(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The document; a sheet or a slide is a section, a slide also a page."""
    archive = Archive(data, options)
    manifest = archive.optional_xml("META-INF/manifest.xml")
    if manifest is not None and any(local(element) == "encryption-data" for element in manifest.iter()):
        raise Fault("encrypted", "the OpenDocument file is protected by a password; save a copy without one")
    root = archive.xml("content.xml")
    body = next((element for element in root if local(element) == "body"), None)
    if body is None or not len(body):
        raise Fault("broken", "the document has no body")
    builder = TextBuilder()
    kind = local(body[0])
    for element in body[0]:
        if kind == "spreadsheet" and local(element) == "table":
            _sheet(element, builder)
        elif kind == "presentation" and local(element) == "page":
            builder.page()
            _slide(element, builder)
        else:
            _block(element, builder, 0)
    facts: dict[str, Any] = {}
    meta = archive.optional_xml("meta.xml")
    for element in meta.iter() if meta is not None else ():
        key, value = _META.get(local(element)), clean(element.text or "")
        if key and value:
            facts.setdefault(key, value)
    return [builder.build({"spreadsheet": "ods", "presentation": "odp"}.get(kind, "odt"), facts)]


def text_of(element: Any) -> str:
    """The text of a paragraph: repeated spaces, tabs and breaks as they are shown."""
    return "".join(_text(element)).strip()


def _text(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = local(child)
        if name == "s":
            yield " " * min(int(attribute(child, "c") or 1), 100)
        elif name == "tab":
            yield "\t"
        elif name == "line-break":
            yield "\n"
        elif name == "note":
            yield f" [{clean(''.join(child.itertext()))}]"
        elif name not in _LEFT_OUT:
            yield from _text(child)
        yield child.tail or ""


def _block(element: Any, builder: TextBuilder, depth: int) -> None:
    name = local(element)
    if name == "h":
        level = attribute(element, "outline-level") or "1"
        builder.heading(int(level) if level.isdigit() else 1, text_of(element))
    elif name == "p":
        builder.block(text_of(element))
    elif name == "list":
        for item in element:
            for place, child in enumerate(item):
                if local(child) == "list":
                    _block(child, builder, depth + 1)
                elif text := text_of(child):
                    mark = "- " if place == 0 else "  "
                    builder.block(
                        "  " * depth + mark + text, gap="\n" if place or depth or item is not element[0] else "\n\n"
                    )
    elif name == "table":
        builder.block(pipe_table(list(_rows(element))))
    elif name not in _LEFT_OUT:
        for child in element:
            _block(child, builder, depth)


def _sheet(table: Any, builder: TextBuilder) -> None:
    rows = [row for row in _rows(table) if any(row)]
    if not rows:
        return
    builder.heading(1, attribute(table, "name") or "Sheet")
    caption, header, body = split_header(rows)
    builder.block(caption)
    for place, line in enumerate(row_lines(header, body)):
        builder.block(line, gap="\n" if place else "\n\n")


def _rows(table: Any) -> Iterator[list[str]]:
    for row in (element for element in table.iter() if local(element) == "table-row"):
        cells: list[str] = []
        for cell in row:
            if local(cell) not in ("table-cell", "covered-table-cell"):
                continue
            text = " ".join(part for part in (text_of(p) for p in cell.iter() if local(p) == "p") if part)
            repeat = attribute(cell, "number-columns-repeated") or "1"
            cells += [text] * (min(int(repeat), _MAX_REPEAT) if repeat.isdigit() else 1)
        while cells and not cells[-1]:
            cells.pop()
        yield cells


def _slide(page: Any, builder: TextBuilder) -> None:
    titled = next((e for e in page.iter() if attribute(e, "class") == "title" and local(e) == "frame"), None)
    if titled is not None:
        builder.heading(1, " ".join(text_of(p) for p in titled.iter() if local(p) == "p"))
    for element in page:
        if element is not titled:
            _block(element, builder, 0)
