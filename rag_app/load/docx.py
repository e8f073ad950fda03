"""DOCX, read from its XML, so that strict and damaged files open too: headings, numbering, tables, boxes, notes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from rag_app.load.archive import Archive, attribute, core_properties, first, local
from rag_app.load.docx_styles import Numbering, Styles
from rag_app.load.parsed import Failed, Fault, Parsed, ReadOptions, Result, TextBuilder, clean
from rag_app.load.tables import pipe_table

_BOXES = ("txbxContent",)
_LEFT_OUT = (
    "del",
    "moveFrom",
    "delText",
    "instrText",
    "fldData",
    "rPr",
    "pPr",
    "sectPr",
    "proofErr",
    "commentReference",
)


def read_docx(data: bytes, name: str, options: ReadOptions) -> list[Result]:
    """The document, and the documents embedded in it."""
    from rag_app.load.read import attached

    archive = Archive(data, options)
    main = main_part(archive, "word/document.xml")
    root = archive.xml(main)
    body = first(root, "body")
    if body is None:
        raise Fault("broken", "the document has no body")
    writer = _Writer(archive, main, options)
    writer.blocks(body)
    writer.notes()
    facts = core_properties(archive)
    embedded = [part for part in archive.names if posixpath.dirname(part).lower().endswith("embeddings")]
    if objects := [posixpath.basename(part) for part in embedded if part.lower().endswith(".bin")]:
        facts["embedded_not_loaded"] = objects
    if "title" not in facts and writer.title:
        facts["title"] = writer.title
    results: list[Result] = []
    parsed = writer.builder.build("docx", facts)
    if parsed.text:
        results.append(parsed)
    for part in embedded:
        if not part.lower().endswith(".bin"):
            results += attached(archive.bytes(part), posixpath.basename(part), options)
    return results or [Failed("", "empty", "holds no text")]


def main_part(archive: Archive, usual: str) -> str:
    """The part that the package names as its document; the usual one when it names none."""
    for kind, target in archive.relations("").values():
        if kind == "officeDocument" and target in archive:
            return target
    if usual in archive:
        return usual
    raise Fault("broken", "the package names no document")


class _Writer:
    """Writes the blocks of a document."""

    def __init__(self, archive: Archive, part: str, options: ReadOptions) -> None:
        folder = posixpath.dirname(part)
        self._archive, self._options = archive, options
        self._relations = archive.relations(part)
        self._styles = Styles(archive.optional_xml(posixpath.join(folder, "styles.xml")))
        self._numbering = Numbering(archive.optional_xml(posixpath.join(folder, "numbering.xml")), self._styles)
        self._folder = folder
        self._in_list = False
        self.builder = TextBuilder()
        self.title = ""

    def blocks(self, parent: Any) -> None:
        """Write the paragraphs and tables of `parent`, through the wrappers that Word puts around them."""
        for element in parent:
            name = local(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._in_list = False
                self.builder.block(pipe_table(list(_rows(element))))
            elif name == "altChunk":
                self._chunk(element)
            elif name == "AlternateContent":
                self.blocks(_choice(element))
            elif name not in _LEFT_OUT:
                self.blocks(element)

    def notes(self) -> None:
        """Footnotes and endnotes at the end, then what heads and feet of the pages say, each once."""
        for part in ("footnotes.xml", "endnotes.xml"):
            root = self._archive.optional_xml(posixpath.join(self._folder, part))
            for note in root if root is not None else ():
                if attribute(note, "type") in ("separator", "continuationSeparator", "continuationNotice"):
                    continue
                text = " ".join(clean(paragraph_text(p)) for p in note.iter() if local(p) == "p").strip()
                if text:
                    self.builder.block(f"[{attribute(note, 'id')}] {text}")
        said: list[str] = []
        for kind, target in self._relations.values():
            root = self._archive.optional_xml(target) if kind in ("header", "footer") else None
            for paragraph in (p for p in root.iter() if local(p) == "p") if root is not None else ():
                text = clean(paragraph_text(paragraph))
                # A page number and its "Page ... of" say nothing about the document.
                if sum(c.isalpha() for c in text) > 8 and text not in said:
                    said.append(text)
        for text in said:
            self.builder.block(text)

    def _paragraph(self, paragraph: Any) -> None:
        text = paragraph_text(paragraph).strip("\n")
        level, titled = self._styles.level(paragraph)
        label, depth = self._numbering.label(paragraph)
        if text.strip():
            if titled and not self.title:
                self.title = clean(text)
            if level:
                self._in_list = False
                self.builder.heading(level, f"{label} {text}" if label and label != "-" else text)
            elif label:
                line = "  " * depth + f"{label} " + text.strip()
                self.builder.block(line, gap="\n" if self._in_list else "\n\n")
                self._in_list = True
            else:
                self._in_list = False
                self.builder.block(text)
        for box in boxes(paragraph):
            self.blocks(box)

    def _chunk(self, element: Any) -> None:
        """Another file whose text stands in this place."""
        from rag_app.load.read import attached

        _, target = self._relations.get(attribute(element, "id") or "", ("", ""))
        if target not in self._archive:
            return
        for result in attached(self._archive.bytes(target), posixpath.basename(target), self._options):
            if isinstance(result, Parsed):
                start = self.builder.block(result.text)
                self.builder.headings += [(start + at, level, title) for at, level, title in result.headings]


def paragraph_text(element: Any) -> str:
    """The text of a paragraph: tabs and breaks kept, deleted text and text boxes left out."""
    return "".join(_runs(element))


def _runs(element: Any) -> Iterator[str]:
    for child in element:
        name = local(child)
        if name == "t":
            yield child.text or ""
        elif name == "tab":
            yield "\t"
        elif name in ("br", "cr"):
            yield "\n"
        elif name == "noBreakHyphen":
            yield "-"
        elif name == "footnoteReference" or name == "endnoteReference":
            yield f"[{attribute(child, 'id')}]"
        elif name == "AlternateContent":
            yield from _runs(_choice(child))
        elif name not in _LEFT_OUT and name not in _BOXES:
            yield from _runs(child)


def boxes(paragraph: Any) -> Iterator[Any]:
    """The text boxes anchored in a paragraph, each once: Word writes them in two dialects side by side."""
    for element in paragraph:
        if local(element) == "AlternateContent":
            element = _choice(element)
        if local(element) in _BOXES:
            yield element
        else:
            yield from boxes(element)


def _choice(element: Any) -> Any:
    """The first of the dialects side by side; the element itself when it offers none."""
    return next(iter(element), element)


def _rows(table: Any) -> Iterator[list[str]]:
    above: dict[int, str] = {}
    for row in table.iter():
        if local(row) != "tr" or _table_of(row) is not table:
            continue
        cells: list[str] = []
        for cell in (c for c in row.iter() if local(c) == "tc" and _row_of(c) is row):
            properties = first(cell, "tcPr")
            span = first(properties, "gridSpan") if properties is not None else None
            merge = first(properties, "vMerge") if properties is not None else None
            column = len(cells)
            text = " ".join(clean(paragraph_text(p)) for p in cell.iter() if local(p) == "p").strip()
            if merge is not None and attribute(merge, "val") != "restart":
                text = text or above.get(column, "")
            above[column] = text
            wide = (attribute(span, "val") or "1") if span is not None else "1"
            cells += [text, *[""] * (min(int(wide), 100) - 1 if wide.isdigit() else 0)]
        yield cells


def _table_of(row: Any) -> Any:
    return next(parent for parent in row.iterancestors() if local(parent) == "tbl")


def _row_of(cell: Any) -> Any:
    return next(parent for parent in cell.iterancestors() if local(parent) == "tr")
