"""Chunks and documents as lines of JSON and back: what goes in comes out equal, dates included."""

from __future__ import annotations

import contextlib
import datetime as dt
import enum
import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rag_app.errors import ConfigError, IndexDamagedError
from rag_app.index.local.container import encode
from rag_app.values import stored_form

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.types import LoadedDocument

# Dates are objects with one of these names. A person's own object with such a name is put in one named `_LITERAL`.
_DATETIME, _DATE, _LITERAL = "$datetime", "$date", "$literal"
_TAGS = frozenset({_DATETIME, _DATE, _LITERAL})
_STRING = frozenset({str})
_PLAIN = _STRING | {int, float, bool, type(None)}
_DEEPEST = 100  # lists and objects inside each other
# Touching or moving a file does not change the document.
_VOLATILE = frozenset({"mtime", "modified", "ctime", "atime", "accessed"})


def plain(value: Any, path: str) -> Any:
    """The value as JSON can hold it; dates are tagged, paths and the like become strings, other objects are refused."""
    if len(path) > _DEEPEST and path.count("[") + path.count(".") > _DEEPEST:
        raise ConfigError(f"{path[:60]}...: values are nested more than {_DEEPEST} levels deep, or hold themselves")
    if value is None or (isinstance(value, str | bool | int | float) and not isinstance(value, enum.Enum)):
        return value
    if isinstance(value, dt.datetime):
        return {_DATETIME: value.isoformat()} if value == value else None  # pandas' NaT is a datetime
    if isinstance(value, dt.date):
        return {_DATE: value.isoformat()}
    if isinstance(value, Mapping):
        items = {str(key): plain(item, f"{path}.{key}") for key, item in value.items()}
        return {_LITERAL: items} if _is_tag(items) else items
    if isinstance(value, list | tuple | set | frozenset):
        members = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [plain(item, f"{path}[{i}]") for i, item in enumerate(members)]
    form = stored_form(value)
    if form is not value:
        return plain(form, path)
    raise ConfigError(
        f"{path}: a {type(value).__name__} cannot be stored; use strings, numbers, dates, lists or objects"
    )


def _is_tag(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and not _TAGS.isdisjoint(value)


def _has_tag(value: Any) -> bool:
    """Whether an object in it would be read as a date."""
    if isinstance(value, Mapping):
        return _is_tag(value) or any(map(_has_tag, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_tag, value))


def revived(value: Any) -> Any:
    """The inverse of `plain`."""
    if isinstance(value, dict):
        if len(value) == 1:
            if _DATETIME in value:
                return dt.datetime.fromisoformat(value[_DATETIME])
            if _DATE in value:
                return dt.date.fromisoformat(value[_DATE])
            if _LITERAL in value:
                value = value[_LITERAL]
        return {key: item if type(item) in _PLAIN else revived(item) for key, item in value.items()}
    if isinstance(value, list):
        return [revived(item) for item in value]
    return value


_ENCODERS = {
    ascii_: json.JSONEncoder(ensure_ascii=ascii_, separators=(",", ":"), default=lambda value: plain(value, ""))
    for ascii_ in (True, False)
}


def is_plain(metadata: Mapping[Any, Any]) -> bool:
    """Whether JSON has every key and value as it is, and reads none as a date; only flat lists are looked into."""
    if not _STRING.issuperset(map(type, metadata)) or _is_tag(metadata):
        return False
    return _PLAIN.issuperset(map(type, metadata.values())) or all(
        type(value) in _PLAIN or (type(value) is list and _PLAIN.issuperset(map(type, value)))
        for value in metadata.values()
    )


def dump(record: Mapping[str, Any], what: str) -> bytes:
    """One line of JSON with its newline; ConfigError names the metadata field that cannot be stored."""
    if is_plain(record["metadata"]):
        # Four times as fast as `json`; it refuses lone surrogates, and has a mind of its own about dates and paths.
        with contextlib.suppress(ValueError):
            return _fast_json()(record) + b"\n"
    encoder = _ENCODERS[record["text"].isascii()]  # escapes cost room where the text is full of them
    try:
        line = encoder.encode(record)
        # No string holds `{"$`: its quotes are escaped. So this is a date, or looks like one.
        if '{"$' not in line or not _has_tag(record["metadata"]):
            return encode(line) + b"\n"
    except (TypeError, ValueError, ConfigError):
        pass
    metadata = plain(record["metadata"], f"{what}: metadata")
    return encode(encoder.encode({**record, "metadata": metadata})) + b"\n"


@functools.cache
def _fast_json() -> Callable[[Any], bytes]:
    from pydantic_core import to_json  # readers have no use for it

    return to_json


def chunk_line(chunk: Document) -> bytes:
    """The chunk's text and metadata; its id stands in the table of ids."""
    return dump({"text": chunk.page_content, "metadata": chunk.metadata}, f"chunk {chunk.id}")


def read_chunk(chunk_id: str, record: Mapping[str, Any]) -> Document:
    """The chunk as it was put in."""
    from langchain_core.documents import Document

    if not {"text", "metadata"} <= record.keys():
        raise IndexDamagedError(f"the record of chunk {chunk_id} is damaged; rebuild with `rag-app index --rebuild`")
    return Document(id=chunk_id, page_content=record["text"], metadata=revived(record["metadata"]))


def document_line(document: LoadedDocument, fingerprint: str) -> bytes:
    """The document's text, metadata and layout, and the fingerprint it was put in with."""
    record: dict[str, Any] = {
        "source": source_of(document),
        "fingerprint": fingerprint,
        "metadata": document.metadata,
        "text": document.page_content,
    }
    layout = document.layout.model_dump(mode="json", exclude_defaults=True)
    return dump({**record, "layout": layout} if layout else record, f"document {document.id}")


def read_document(doc_id: str, record: Mapping[str, Any]) -> LoadedDocument:
    """The document as it was put in."""
    from rag_app.types import Layout, LoadedDocument

    return LoadedDocument(
        id=doc_id,
        page_content=record["text"],
        metadata=revived(record["metadata"]),
        layout=Layout.model_validate(record.get("layout", {})),
    )


def source_of(document: Document) -> str:
    """Where the document comes from: the key of an upsert. A document without a source has its id as one."""
    return str(document.metadata.get("source") or document.id)


def fingerprint_of(document: LoadedDocument, splitter: Any = None) -> str:
    """Changes when text, metadata (times of access aside), layout or the way of splitting change."""
    metadata = {key: value for key, value in document.metadata.items() if key not in _VOLATILE}
    content = [
        document.page_content,
        plain(metadata, f"document {document.id}: metadata"),
        document.layout.model_dump(mode="json", exclude_defaults=True),
        splitter,
    ]
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def text_to_index(chunk: Document) -> str:
    """What is embedded and searched: `embed_text` where a splitter set it, else the chunk's text."""
    text = chunk.metadata.get("embed_text")
    return text if isinstance(text, str) else chunk.page_content
