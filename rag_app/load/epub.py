"""EPUB: the chapters in reading order as one document, with the HTML reader for each."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote

from rag_app.load.archive import Archive, attribute, local
from rag_app.load.encoding import decode
from rag_app.load.html import parse_html
from rag_app.load.parsed import Fault, Parsed, ReadOptions, TextBuilder, clean

_META = {"title": "title", "creator": "author", "date": "created", "language": "language", "description": "description",
         "publisher": "publisher", "subject": "subject", "identifier": "identifier"}  # fmt: skip


def read_epub(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The book; chapters without a heading of their own get the title that the contents give them."""
    archive = Archive(data, options)
    package = _package(archive)
    root = archive.xml(package)
    folder = posixpath.dirname(package)
    items = {attribute(e, "id"): e for e in root.iter() if local(e) == "item"}
    _refuse_protected(archive, items, folder)
    spine = [items[key] for e in root.iter() if local(e) == "itemref" and (key := attribute(e, "idref")) in items]
    if not spine:
        spine = [item for item in items.values() if "html" in (attribute(item, "media-type") or "")]
    titles = _contents(archive, items, folder)
    builder = TextBuilder()
    for item in spine:
        part = posixpath.normpath(posixpath.join(folder, unquote(attribute(item, "href") or "")))
        if part not in archive or "nav" in (attribute(item, "properties") or ""):
            continue
        try:
            chapter = parse_html(decode(archive.bytes(part)).text, whole=True)
        except Fault as fault:
            if fault.error == "empty":
                continue
            raise
        if not chapter.headings and titles.get(part):
            builder.heading(1, titles[part])
        start = builder.block(chapter.text)
        builder.headings += [(start + at, level, title) for at, level, title in chapter.headings]
    facts: dict[str, Any] = {}
    for element in root.iter():
        key, value = _META.get(local(element)), clean(element.text or "")
        if key and value and "purl.org/dc" in element.tag:
            facts.setdefault(key, value)
    return [builder.build("epub", facts)]


def _package(archive: Archive) -> str:
    container = archive.optional_xml("META-INF/container.xml")
    for element in container.iter() if container is not None else ():
        if local(element) == "rootfile" and (attribute(element, "full-path") or "") in archive:
            return attribute(element, "full-path") or ""
    found = next((part for part in archive.names if part.endswith(".opf")), None)
    if found is None:
        raise Fault("broken", "the book has no package file")
    return found


def _refuse_protected(archive: Archive, items: dict[Any, Any], folder: str) -> None:
    root = archive.optional_xml("META-INF/encryption.xml")
    if root is None:
        return
    pages = {
        posixpath.normpath(posixpath.join(folder, attribute(item, "href") or ""))
        for item in items.values()
        if "html" in (attribute(item, "media-type") or "")
    }
    for element in root.iter():
        if local(element) == "CipherReference" and unquote(attribute(element, "URI") or "") in pages:
            raise Fault("encrypted", "the book is protected (DRM) and cannot be read")


def _contents(archive: Archive, items: dict[Any, Any], folder: str) -> dict[str, str]:
    """Chapter titles by part, from the table of contents (NCX or navigation page)."""
    titles: dict[str, str] = {}
    for item in items.values():
        kind, properties = attribute(item, "media-type") or "", attribute(item, "properties") or ""
        part = posixpath.normpath(posixpath.join(folder, unquote(attribute(item, "href") or "")))
        if "ncx" not in kind and "nav" not in properties.split():
            continue
        root = archive.optional_xml(part)
        for element in root.iter() if root is not None else ():
            target, title = "", ""
            if local(element) == "navPoint":
                target = next((attribute(e, "src") or "" for e in element if local(e) == "content"), "")
                title = next((clean("".join(e.itertext())) for e in element if local(e) == "navLabel"), "")
            elif local(element) == "a":
                target, title = attribute(element, "href") or "", clean("".join(element.itertext()))
            if target and title:
                place = posixpath.normpath(posixpath.join(posixpath.dirname(part), unquote(target.split("#")[0])))
                titles.setdefault(place, title)
    return titles
