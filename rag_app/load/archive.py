"""Zip containers (DOCX, PPTX, XLSX, EPUB, ODF) opened with care: a bomb is refused before it is unpacked."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from typing import Any
from urllib.parse import unquote

from rag_app.load.parsed import Fault, ReadOptions

_DAMAGE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError)
_MAX_ENTRIES = 20_000


class Archive:
    """The parts of a zip container by name; a part that cannot be read is a Fault."""

    def __init__(self, data: bytes, options: ReadOptions) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise Fault("broken", f"the container cannot be opened: {error}") from None
        entries = self._zip.infolist()
        total = sum(entry.file_size for entry in entries)
        if total > options.max_expanded or len(entries) > _MAX_ENTRIES:
            size = f"{total / 1024**2:,.0f} MB in {len(entries)} parts"
            raise Fault(
                "too_large", f"unpacks to {size}, more than the limit; raise load.memory_limit_mb if that is meant"
            )
        # Names are looked up without regard to case: some writers disagree with themselves.
        self._names = {name.lower(): name for name in self._zip.namelist()}

    @property
    def names(self) -> list[str]:
        """The parts in the order of the file."""
        return list(self._names.values())

    def __contains__(self, name: str) -> bool:
        return name.lstrip("/").lower() in self._names

    def bytes(self, name: str) -> bytes:
        """The content of a part."""
        try:
            return self._zip.read(self._names[name.lstrip("/").lower()])
        except KeyError:
            raise Fault("broken", f"the part {name!r} is missing") from None
        except _DAMAGE as error:
            if "encrypted" in str(error) or "password" in str(error):
                raise Fault("encrypted", "the zip container is protected by a password") from None
            raise Fault("broken", f"the part {name!r} is damaged: {error}") from None

    def xml(self, name: str) -> Any:
        """The root element of a part; entities stay unexpanded, nothing is fetched."""
        return parse_xml(self.bytes(name), name)

    def optional_xml(self, name: str) -> Any | None:
        """The root element of a part, or None when it is missing or damaged: for what is good to have."""
        if name not in self:
            return None
        try:
            return self.xml(name)
        except Fault:
            return None

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Id to `(kind, target)` for what `part` refers to; targets are names of parts."""
        folder, base = posixpath.split(part)
        root = self.optional_xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, tuple[str, str]] = {}
        for relation in root if root is not None else ():
            target = relation.get("Target") or ""
            if relation.get("TargetMode") != "External":
                target = unquote(target.split("#")[0])
                target = (
                    target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
                )
                kind = (relation.get("Type") or "").rsplit("/", 1)[-1]
                found[relation.get("Id") or ""] = (kind, target)
        return found


def parse_xml(data: bytes, name: str) -> Any:
    """The root element of XML, or a Fault; also when it declares entities (bombs, attempts to read other files)."""
    import lxml.etree

    if b"<!ENTITY" in data:
        raise Fault("unsafe", f"the part {name!r} declares XML entities, which no office program writes: refused")
    options = {"resolve_entities": False, "no_network": True, "remove_comments": True}
    # As written; then with long texts allowed; then whatever can be saved of a damaged part.
    for extra in ({}, {"huge_tree": True}, {"recover": True}):
        try:
            root = lxml.etree.fromstring(data, lxml.etree.XMLParser(**options, **extra))
        except lxml.etree.XMLSyntaxError as error:
            if "depth" in str(error):
                raise Fault("broken", f"the part {name!r} is nested too deeply") from None
            continue
        if root is not None:
            return root
    raise Fault("broken", f"the part {name!r} is no XML")


def local(element: Any) -> str:
    """The name of an element without its namespace: the strict and the usual dialects differ in nothing else."""
    tag = element.tag
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str | None:
    """An attribute by its name without namespace."""
    for key, value in element.attrib.items():
        if key.rsplit("}", 1)[-1] == name:
            return str(value)
    return None


def first(element: Any, *path: str) -> Any | None:
    """The first descendant along a path of child names; None when there is none."""
    for name in path:
        element = next((child for child in element if local(child) == name), None)
        if element is None:
            return None
    return element


def core_properties(archive: Archive) -> dict[str, Any]:
    """Title, author and dates as an office file states them."""
    root = archive.optional_xml("docProps/core.xml")
    fields = {"title": "title", "creator": "author", "created": "created", "modified": "modified", "subject": "subject",
              "keywords": "keywords", "language": "language"}  # fmt: skip
    found: dict[str, Any] = {}
    for element in root if root is not None else ():
        key, value = fields.get(local(element)), " ".join((element.text or "").split())
        if key and value:
            found.setdefault(key, value)
    return found
