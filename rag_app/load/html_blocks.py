"""The elements of a page as blocks of readable text: paragraphs, headings, lists, tables, code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rag_app.load.parsed import Parsed, TextBuilder
from rag_app.load.tables import pipe_table

_NAMES = """
address article aside blockquote body caption center dd details dir div dl dt fieldset figcaption figure footer form
h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul
"""
_BLOCK = frozenset(_NAMES.split())
_MAX_COLUMNS = 200  # beyond it, spans are no longer expanded
_SPACE = re.compile(r"[ \t\n\r\f\v\u00a0]+")


class Blocks:
    """Walks a tree and writes its blocks; inline text gathers until a block element opens or closes."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._inline: list[str] = []
        self._lists: list[int | None] = []
        self._marker = ""
        self._tight = False

    def finish(self) -> Parsed:
        """The text so far, with its headings."""
        self._flush()
        return self.builder.build("html")

    def walk(self, element: Any) -> None:
        """Write `element` and everything in it; not its tail."""
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag in _BLOCK:
            self._flush()
            self._block(tag, element)
            self._flush()
        elif tag == "br":
            self._inline.append("\n\0")
        elif tag == "sup" and "reference" in (element.get("class") or ""):
            return
        elif tag == "q":
            self._inline.append("“")
            self._children(element)
            self._inline.append("”")
        else:
            self._children(element)

    def _children(self, element: Any) -> None:
        if element.text:
            self._inline.append(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self.walk(child)
            if child.tail:
                self._inline.append(child.tail)

    def _block(self, tag: str, element: Any) -> None:
        if tag[0] == "h" and tag[1:].isdigit():
            self.builder.heading(int(tag[1]), element.text_content())
        elif tag in ("ul", "ol", "menu", "dir"):
            self._list(tag, element)
        elif tag == "li":
            self._item(element)
        elif tag == "pre":
            code = "".join(element.itertext()).strip("\n").rstrip()
            if code.strip():
                self.builder.block(f"```\n{code}\n```")
        elif tag == "table":
            self._table(element)
        elif tag == "dd":
            self._marker, self._tight = "  ", True
            self._children(element)
        else:
            self._children(element)

    def _list(self, tag: str, element: Any) -> None:
        start = element.get("start") or "1"
        self._lists.append((int(start) if start.isdigit() else 1) if tag == "ol" else None)
        self._tight = len(self._lists) > 1
        self._children(element)
        self._flush()
        self._lists.pop()
        self._tight = False

    def _item(self, element: Any) -> None:
        depth = max(0, len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        self._marker = "  " * depth + (f"{number}. " if number is not None else "- ")
        if number is not None:
            self._lists[-1] = number + 1
        self._children(element)
        self._flush()
        self._marker, self._tight = "", True

    def _table(self, table: Any) -> None:
        for caption in table.findall("caption"):
            self._children(caption)
            self._flush()
        rows = [row for row in table.iter("tr") if next(row.iterancestors("table"), None) is table]
        nested = any(True for inner in table.iter("table") if inner is not table)
        widest = max((len(row.findall("td")) + len(row.findall("th")) for row in rows), default=0)
        blocks = any(True for tag in ("h1", "h2", "h3", "h4", "pre") for _ in table.iter(tag))
        if nested or widest < 2 or (blocks and len(rows) < 3):
            for row in rows:  # a table that lays out a page
                for cell in row:
                    if isinstance(cell.tag, str):
                        self._children(cell)
                        self._flush()
            return
        grid = _grid(rows)
        head = any(True for row in rows[:1] for _ in row.iter("th")) or any(True for _ in table.iter("thead"))
        text = pipe_table(grid, header=head)
        if text:
            self.builder.block(text)

    def _flush(self) -> None:
        text = "".join(self._inline)
        self._inline = []
        lines = [_SPACE.sub(" ", line).strip() for line in text.split("\n\0")]
        body = "\n".join(lines).strip()
        if not body:
            return
        hanging = " " * len(self._marker)
        body = self._marker + body.replace("\n", "\n" + hanging)
        self.builder.block(body, gap="\n" if self._tight else "\n\n")
        self._marker, self._tight = hanging if self._lists else "", False


def _grid(rows: list[Any]) -> list[list[str]]:
    """Cells by row and column; a cell over several rows is repeated in each, one over several columns stands once."""
    grid: list[list[str]] = []
    waiting: dict[int, tuple[int, str]] = {}
    for row in rows:
        line: list[str] = []

        def carried(line: list[str] = line) -> None:
            while len(line) in waiting:
                left, text = waiting.pop(len(line))
                if left > 1:
                    waiting[len(line)] = (left - 1, text)
                line.append(text)

        for cell in row:
            if cell.tag not in ("td", "th"):
                continue
            carried()
            text = _cell_text(cell)
            tall, wide = _count(cell.get("rowspan"), 1000), _count(cell.get("colspan"), 100)
            if len(line) > _MAX_COLUMNS:
                tall = wide = 1
            for extra in range(wide):
                if tall > 1:
                    waiting[len(line)] = (tall - 1, text if extra == 0 else "")
                line.append(text if extra == 0 else "")
        carried()
        grid.append(line)
    return grid


def _cell_text(cell: Any) -> str:
    return _SPACE.sub(" ", "".join(_cell_parts(cell))).strip()


def _cell_parts(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            apart = " " if child.tag in _BLOCK or child.tag == "br" else ""
            yield apart
            yield from _cell_parts(child)
            yield apart
        yield child.tail or ""


def _count(value: str | None, most: int) -> int:
    return min(int(value), most) if value and value.isdigit() and int(value) > 0 else 1
