"""What DOCX says apart from its text: which style is a heading, and which number a paragraph shows."""

from __future__ import annotations

import re
from typing import Any

from rag_app.load.archive import attribute, first, local

_HEADING = re.compile(r"^(?:heading|überschrift|titre|título|rubrik)\s*(\d)$", re.I)
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


class Styles:
    """Levels of headings by style, through the styles they are based on."""

    def __init__(self, root: Any | None) -> None:
        self._levels: dict[str, int] = {}
        self._titles: set[str] = set()
        self.numbers: dict[str, Any] = {}
        based: dict[str, str] = {}
        for style in root if root is not None else ():
            if local(style) != "style":
                continue
            key = attribute(style, "styleId") or ""
            named, parent = first(style, "name"), first(style, "basedOn")
            name = (attribute(named, "val") if named is not None else key) or key
            if parent is not None:
                based[key] = attribute(parent, "val") or ""
            match = _HEADING.match(name)
            outline = first(style, "pPr", "outlineLvl")
            if match:
                self._levels[key] = int(match[1])
            elif outline is not None and (attribute(outline, "val") or "").isdigit():
                self._levels[key] = int(attribute(outline, "val") or 0) + 1
            if name.lower() in ("title", "titel"):
                self._titles.add(key)
            numbered = first(style, "pPr", "numPr")
            if numbered is not None:
                self.numbers[key] = numbered
        for key in based:
            self._inherit(key, based)

    def _inherit(self, key: str, based: dict[str, str]) -> None:
        parent, seen = based.get(key), {key}
        while parent and parent not in seen:
            seen.add(parent)
            if key not in self._levels and parent in self._levels:
                self._levels[key] = self._levels[parent]
            if key not in self.numbers and parent in self.numbers:
                self.numbers[key] = self.numbers[parent]
            parent = based.get(parent)

    def level(self, paragraph: Any) -> tuple[int, bool]:
        """Level of the heading (0: none), and whether it is the document's title."""
        key = style_of(paragraph)
        outline = first(paragraph, "pPr", "outlineLvl")
        if outline is not None and (attribute(outline, "val") or "").isdigit():
            level = int(attribute(outline, "val") or 9) + 1
            return (level if level <= 9 else 0), False
        level = self._levels.get(key) or (int(match[1]) if (match := _HEADING.match(key)) else 0)
        if key in self._titles or key.lower() == "title":
            return 1, True
        return (level if level <= 9 else 0), False


class Numbering:
    """The labels ("4.2", "(a)", "-") that Word shows before paragraphs and does not store in their text."""

    def __init__(self, root: Any | None, styles: Styles) -> None:
        self._styles = styles
        self._abstract: dict[str, str] = {}
        self._levels: dict[tuple[str, int], tuple[str, str, int]] = {}
        self._counts: dict[str, list[int]] = {}
        for element in root if root is not None else ():
            if local(element) == "abstractNum":
                key = attribute(element, "abstractNumId") or ""
                for level in (e for e in element if local(e) == "lvl"):
                    depth = attribute(level, "ilvl") or "0"
                    form, text, start = first(level, "numFmt"), first(level, "lvlText"), first(level, "start")
                    begin = (attribute(start, "val") if start is not None else None) or "1"
                    self._levels[key, int(depth) if depth.isdigit() else 0] = (
                        (attribute(form, "val") if form is not None else None) or "decimal",
                        (attribute(text, "val") if text is not None else None) or "",
                        int(begin) if begin.isdigit() else 1,
                    )
            elif local(element) == "num":
                abstract = first(element, "abstractNumId")
                self._abstract[attribute(element, "numId") or ""] = (
                    attribute(abstract, "val") if abstract is not None else None
                ) or ""

    def label(self, paragraph: Any) -> tuple[str, int]:
        """The label of a paragraph and its depth; `("", 0)` when it has none."""
        key = style_of(paragraph)
        own = first(paragraph, "pPr", "numPr")
        numbered = own if own is not None else self._styles.numbers.get(key)
        if numbered is None:
            return ("-", 0) if key.lower().startswith("listbullet") else ("", 0)
        identity, depth_element = first(numbered, "numId"), first(numbered, "ilvl")
        number = (attribute(identity, "val") if identity is not None else None) or "0"
        raw = (attribute(depth_element, "val") if depth_element is not None else None) or "0"
        depth = min(int(raw), 8) if raw.isdigit() else 0
        if number == "0":
            return "", 0
        abstract = self._abstract.get(number, "")
        form, text, _ = self._levels.get((abstract, depth), ("bullet", "", 1))
        if form == "bullet":
            return "-", depth
        if form == "none":
            return "", 0
        counts = self._counts.setdefault(abstract, [])
        while len(counts) <= depth:
            counts.append(self._levels.get((abstract, len(counts)), ("", "", 1))[2] - 1)
        counts[depth] += 1
        del counts[depth + 1 :]

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            if place >= len(counts):
                return ""
            value = max(counts[place], self._levels.get((abstract, place), ("", "", 1))[2])
            return formatted(value, self._levels.get((abstract, place), ("decimal", "", 1))[0])

        return re.sub(r"%(\d)", shown, text) or f"{counts[depth]}.", depth


def style_of(paragraph: Any) -> str:
    """The id of a paragraph's style."""
    style = first(paragraph, "pPr", "pStyle")
    return (attribute(style, "val") or "") if style is not None else ""


def formatted(number: int, form: str) -> str:
    """A number as a list shows it: decimal, letters or Roman."""
    if form in ("lowerLetter", "upperLetter"):
        letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters if form == "lowerLetter" else letters.upper()
    if form in ("lowerRoman", "upperRoman"):
        roman = ""
        for value, sign in _ROMAN:
            roman += sign * (number // value)
            number %= value
        return roman if form == "lowerRoman" else roman.upper()
    return f"0{number}" if form == "decimalZero" and number < 10 else str(number)
