"""Markdown: the text stays as written; front matter becomes metadata, headings become the layout."""

from __future__ import annotations

import datetime
import math
import re
from itertools import pairwise
from typing import Any

from rag_app.load.parsed import Parsed, ReadOptions, clean
from rag_app.load.text import decoded

_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^\1[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_VALUES = 10_000
_LOOSE = re.compile(r"^([A-Za-z][\w -]*):[ \t]*(.*)$", re.MULTILINE)


def read_markdown(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """Front matter (YAML or TOML) becomes metadata and leaves the text; headings, also underlined ones, with places."""
    text, note = decoded(data)
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front, text = split_front_matter(text)
    headings = markdown_headings(text)
    metadata: dict[str, Any] = {**front, **note}
    if "title" not in front and headings:
        metadata["title"] = headings[0][2]
    return [Parsed(text, "markdown", metadata, headings=headings)]


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The front matter as flat metadata, and the text behind it; `({}, text)` when there is none."""
    match = _FRONT.match(text)
    if match is None:
        return {}, text
    values = _parse_front(match[1], match[2])
    return (values, text[match.end() :]) if values is not None else ({}, text)


def _parse_front(fence: str, body: str) -> dict[str, Any] | None:
    import tomllib

    import yaml

    try:
        values = tomllib.loads(body) if fence == "+++" else yaml.safe_load(body)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        values = dict(_LOOSE.findall(body)) or None
    if values is None and not body.strip():
        return {}
    if not isinstance(values, dict):
        return None
    try:
        return {str(key).strip(): plain(value) for key, value in values.items() if value is not None}
    except (ValueError, RecursionError):
        return None


def plain(value: Any, left: list[int] | None = None) -> Any:
    """A value as JSON has it; dates in ISO form. ValueError for more than 10,000 values: aliases can multiply."""
    left = [_MAX_VALUES] if left is None else left
    left[0] -= 1
    if left[0] < 0:
        raise ValueError("too many values")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): plain(item, left) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item, left) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such numbers
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def markdown_headings(text: str) -> tuple[tuple[int, int, str], ...]:
    """`(start, level, title)` of each heading outside code fences and comments, in order."""
    from markdown_it import MarkdownIt

    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    tokens = MarkdownIt("commonmark").parse(text)
    found: list[tuple[int, int, str]] = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.map is not None:
            title = clean("".join(_words(child) for child in inline.children or ()))
            if title:
                found.append((starts[opening.map[0]], int(opening.tag[1]), title))
    return tuple(found)


def _words(token: Any) -> str:
    if token.type in ("text", "code_inline", "image"):
        return str(token.content)
    return " " if token.type in ("softbreak", "hardbreak") else ""
