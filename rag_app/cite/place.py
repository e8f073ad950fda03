"""Where a piece of evidence stands, read from its metadata, which may be anybody's.

Loaders of others write pages as "iii" or NaN, sections as one string, offsets of -1 where they did not find the text;
none of that may end an answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from langchain_core.documents import Document


class Place(NamedTuple):
    """Name, source and place of a passage; `start` is the offset of its text in the document's text, 0 if unknown."""

    chunk_id: str
    source: str
    start: int
    page: int | None
    section_path: tuple[str, ...]
    title: str | None


def place_of(chunk: Document, number: int) -> Place:
    """The place of the chunk with this marker; without an id of its own it bears the number."""
    metadata = chunk.metadata
    source, title = metadata.get("source"), metadata.get("title")
    return Place(
        chunk_id=str(chunk.id or metadata.get("id") or number),
        source="" if source is None else str(source),
        start=start_of(chunk),
        page=_page(metadata.get("page")),
        section_path=_path(metadata.get("section_path")),
        title=None if title is None else str(title),
    )


def start_of(chunk: Document) -> int:
    """The offset of the chunk's text in its document's text; 0 when the metadata does not tell."""
    start = chunk.metadata.get("start_index")
    return start if isinstance(start, int) and not isinstance(start, bool) and start > 0 else 0


def _page(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        page = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return page if isinstance(value, str) or page == value else None


def _path(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(str(title) for title in value if title is not None) if isinstance(value, list | tuple) else ()
