"""reStructuredText: the text stays as written; adorned titles become headings, the bibliographic fields metadata."""

from __future__ import annotations

import re

from rag_app.load.parsed import Parsed, ReadOptions, clean
from rag_app.load.text import decoded

_ADORNED = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_FIELD = re.compile(r"^:(author|date|version|copyright|organization|status|revision|contact):[ \t]+(.+)$", re.I | re.M)


def read_rst(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """One document; a title's level is the place of its adornment in the order of first use."""
    text, note = decoded(data)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    headings = rst_headings(text)
    facts = {key.lower(): clean(value) for key, value in _FIELD.findall(text[:3000])}
    title = {"title": headings[0][2]} if headings else {}
    return [Parsed(text, "rst", {**title, **facts, **note}, headings=headings)]


def rst_headings(text: str) -> tuple[tuple[int, int, str], ...]:
    """`(start, level, title)` of each section title, over- and underlined or underlined only."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    styles: list[tuple[str, bool]] = []
    found: list[tuple[int, int, str]] = []
    place = 1
    while place < len(lines):
        under, title = _ADORNED.match(lines[place]), lines[place - 1]
        long_enough = len(lines[place].rstrip()) >= len(title.strip())
        if under is None or not title.strip() or not long_enough or _ADORNED.match(title):
            place += 1
            continue
        above = lines[place - 2] if place > 1 else ""
        over = (match := _ADORNED.match(above)) is not None and match[1] == under[1]
        if not over and (title[0].isspace() or above.strip()):
            place += 1
            continue
        style = (under[1], over)
        if style not in styles:
            styles.append(style)
        found.append((starts[place - 2 if over else place - 1], styles.index(style) + 1, clean(title)))
        place += 2
    return tuple(found)
