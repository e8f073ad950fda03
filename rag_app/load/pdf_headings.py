"""Headings of a PDF: from its outline, or, when it has none, from lines set in larger type."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from typing import Any

from rag_app.load.parsed import clean
from rag_app.load.pdf_text import PdfText

Headings = tuple[tuple[int, int, str], ...]


def by_outline(document: Any, text: PdfText) -> Headings:
    """`(start, level, title)` of each outline entry: at the line that reads like it, else where the entry points."""
    import pypdfium2

    found: list[tuple[int, int, str]] = []
    try:
        entries = list(document.get_toc(max_depth=8))
    except (pypdfium2.PdfiumError, RecursionError, ValueError):
        return ()
    by_page: dict[int, list[tuple[int, str]]] = {}
    for start, end, page, _ in text.lines:
        by_page.setdefault(page, []).append((start, _key(text.text[start:end])))
    after = 0
    for entry in entries[:5000]:
        title = clean(entry.get_title() or "")
        target = entry.get_dest()
        index = target.get_index() if target is not None else None
        if not title or index is None or not 0 <= index < len(text.pages):
            continue
        start = _find(title, by_page.get(index + 1, []), after, text.pages[index][0])
        found.append((start, entry.level + 1, title))
        after = start
    return tuple(sorted(found, key=lambda heading: heading[0]))


def _find(title: str, lines: list[tuple[int, str]], after: int, page_start: int) -> int:
    wanted = _key(title)
    exact = [start for start, line in lines if line == wanted]
    near = [start for start, line in lines if len(wanted) > 3 and (line.startswith(wanted) or line.endswith(wanted))]
    part = [start for start, line in lines if len(line) > 7 and wanted.startswith(line)]
    for starts in (exact, near, part):
        if starts:
            return next((start for start in starts if start >= after), starts[0])
    return page_start


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def by_size(text: PdfText) -> Headings:
    """Short lines in type clearly larger than the body's; the largest size is level 1."""
    weights: Counter[float] = Counter()
    for start, end, _, line in text.lines:
        weights[round(line.size, 1)] += end - start
    if not weights:
        return ()
    body = max(weights, key=lambda size: (weights[size], -size))
    heads = _repeated(text)
    large = [
        item
        for item in text.lines
        if item[3].size > 1.18 * body
        and _like_a_title(text.text[item[0] : item[1]])
        and _key(re.sub(r"\d+", "", text.text[item[0] : item[1]])) not in heads
    ]
    # More than a few lines in large type are a design, not headings.
    if not large or len(large) > 0.15 * len(text.lines) + 3:
        return ()
    sizes = sorted({round(item[3].size) for item in large}, reverse=True)
    levels = {size: min(place, 4) for place, size in enumerate(sizes, start=1)}
    found: list[tuple[int, int, str]] = []
    last_end, last_size = -9, 0
    for start, end, _, line in large:
        title, size = clean(text.text[start:end]), round(line.size)
        if found and size == last_size and start - last_end <= 2 and len(found[-1][2]) + len(title) < 160:
            found[-1] = (found[-1][0], found[-1][1], f"{found[-1][2]} {title}")  # a heading over two lines
        else:
            found.append((start, levels[size], title))
        last_end, last_size = end, size
    return tuple(found)


def _repeated(text: PdfText) -> set[str]:
    """Lines that stand on several pages but for their numbers: running heads and feet."""
    pages: dict[str, set[int]] = {}
    for start, end, page, _ in text.lines:
        pages.setdefault(_key(re.sub(r"\d+", "", text.text[start:end])), set()).add(page)
    return {key for key, found in pages.items() if len(found) > 1}


def title_line(text: PdfText) -> str:
    """The lines in the largest type on the first page, when they stand out; else the empty string."""
    first = [item for item in text.lines if item[2] == text.lines[0][2]]
    largest = max(item[3].size for item in first)
    usual = statistics.median(item[3].size for item in first)
    if largest < 1.2 * usual:
        return ""
    place = next(place for place, item in enumerate(first) if item[3].size > 0.97 * largest)
    parts: list[str] = []
    for start, end, _, line in first[place : place + 3]:
        if line.size <= 0.97 * largest:
            break
        parts.append(text.text[start:end])
    title = clean(" ".join(parts))
    return title if _like_a_title(title) else ""


def _like_a_title(text: str) -> bool:
    letters = sum(c.isalpha() for c in text)
    return (
        3 <= len(text) <= 160
        and letters >= 3
        and letters > 0.5 * len(text.replace(" ", ""))
        and not text[0].islower()
        and text[-1] not in ".,;"
    )
