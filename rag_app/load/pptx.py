"""PPTX, read from its XML: a slide is a page, its title a heading; groups, tables, charts, diagrams and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rag_app.load.archive import Archive, attribute, core_properties, first, local
from rag_app.load.docx import main_part
from rag_app.load.parsed import Fault, Parsed, ReadOptions, TextBuilder, clean
from rag_app.load.tables import pipe_table


def read_pptx(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The presentation as one document."""
    archive = Archive(data, options)
    builder = TextBuilder()
    for part in _slides(archive):
        builder.page()
        _slide(archive, part, builder)
    return [builder.build("pptx", core_properties(archive))]


def _slides(archive: Archive) -> list[str]:
    """The slides as shown; by their numbers when the presentation does not say."""
    with suppress(Fault, KeyError):
        main = main_part(archive, "ppt/presentation.xml")
        relations = archive.relations(main)
        wanted = [_relation(e) for e in archive.xml(main).iter() if local(e) == "sldId"]
        parts = [relations[key][1] for key in wanted if key in relations and relations[key][1] in archive]
        if parts:
            return parts
    numbered = [(int(m[1]), part) for part in archive.names if (m := re.fullmatch(r"ppt/slides/slide(\d+)\.xml", part))]
    return [part for _, part in sorted(numbered)]


def _relation(element: Any) -> str:
    """The id of the part that an element refers to; its other `id` is a number of its own."""
    return next((str(value) for key, value in element.attrib.items() if "relationships" in key), "")


def _slide(archive: Archive, part: str, builder: TextBuilder) -> None:
    root = archive.optional_xml(part)
    if root is None:
        return
    relations = archive.relations(part)
    shapes = list(_shapes(root))
    titled = next((s for s in shapes if _placeholder(s) in ("title", "ctrTitle") and shape_text(s)), None)
    if titled is not None:
        builder.heading(1, shape_text(titled).replace("\n", " "))
    for shape in shapes:
        if shape is titled or _placeholder(shape) in ("sldNum", "dt", "ftr"):
            continue
        if local(shape) == "graphicFrame":
            for text in _frame(archive, shape, relations):
                builder.block(text)
        else:
            builder.block(shape_text(shape))
    for kind, target in relations.values():
        if kind == "notesSlide" and (notes := archive.optional_xml(target)) is not None:
            said = "\n".join(shape_text(s) for s in _shapes(notes) if _placeholder(s) in ("body", "notes"))
            if said.strip():
                builder.block(f"Notes: {said.strip()}")


def _shapes(root: Any) -> Iterator[Any]:
    """Shapes and frames in the order in which they were drawn, through groups."""
    for element in root:
        name = local(element)
        if name in ("sp", "graphicFrame", "cxnSp"):
            yield element
        elif name == "AlternateContent":
            chosen = next((c for c in element if local(c) == "Choice"), None)
            yield from _shapes(chosen if chosen is not None else element)
        else:
            yield from _shapes(element)


def _placeholder(shape: Any) -> str:
    mark = next((e for e in shape.iter() if local(e) == "ph"), None)
    return (attribute(mark, "type") or "body") if mark is not None else ""


def shape_text(shape: Any) -> str:
    """The paragraphs of a shape; deeper levels are indented as list items."""
    lines = []
    for paragraph in (e for e in shape.iter() if local(e) == "p"):
        text = "".join(
            (run.text or "") if local(run) == "t" else "\n" if local(run) == "br" else "" for run in paragraph.iter()
        ).strip()
        if text:
            properties = first(paragraph, "pPr")
            raw = (attribute(properties, "lvl") if properties is not None else None) or "0"
            depth = int(raw) if raw.isdigit() else 0
            lines.append("  " * (depth - 1) + "- " + text if depth else text)
    return "\n".join(lines)


def _frame(archive: Archive, frame: Any, relations: dict[str, tuple[str, str]]) -> Iterator[str]:
    for element in frame.iter():
        name = local(element)
        if name == "tbl":
            rows = [[_cell(cell) for cell in row if local(cell) == "tc"] for row in element if local(row) == "tr"]
            yield pipe_table(rows)
        elif name in ("chart", "relIds"):
            key = attribute(element, "id") or attribute(element, "dm") or ""
            root = archive.optional_xml(relations[key][1]) if key in relations else None
            if root is not None:
                yield (
                    _chart(root)
                    if name == "chart"
                    else "\n".join(t for t in (clean(shape_text(p)) for p in root.iter() if local(p) == "pt") if t)
                )


def _cell(cell: Any) -> str:
    return clean(shape_text(cell).replace("\n", " "))


def _chart(root: Any) -> str:
    """A chart as a table: categories down, series across."""
    title = next((clean("".join(t.text or "" for t in e.iter() if local(t) == "t")) for e in root.iter()
                  if local(e) == "title"), "")  # fmt: skip
    names: list[str] = []
    columns: list[list[str]] = []
    categories: list[str] = []
    for series in (e for e in root.iter() if local(e) == "ser"):
        named, across, values = first(series, "tx"), first(series, "cat"), first(series, "val")
        names.append(" ".join(_points(named)) if named is not None else "")
        columns.append(_points(values) if values is not None else [])
        categories = categories or (_points(across) if across is not None else [])
    height = max((len(column) for column in columns), default=0)
    categories += [str(place + 1) for place in range(len(categories), height)]
    cells = [[column[place] if place < len(column) else "" for column in columns] for place in range(height)]
    rows = [["", *names], *([category, *row] for category, row in zip(categories, cells, strict=False))]
    table = pipe_table(rows) if height else ""
    return "\n".join(part for part in (title, table) if part)


def _points(element: Any) -> list[str]:
    return [clean(value.text or "") for value in element.iter() if local(value) == "v"]
