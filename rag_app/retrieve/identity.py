"""Which documents are the same one: by id, else by place, else by source and content; never by text alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from langchain_core.documents import Document

# Where loaders of the LangChain world put the origin of a document. Scores and other arm-made keys are not among them.
_ORIGIN = ("source", "url", "file_path", "path", "file_name", "filename", "doc_id", "title", "page", "row", "seq_num")


def _origin(document: Document) -> str:
    known = {key: document.metadata[key] for key in _ORIGIN if document.metadata.get(key) is not None}
    return json.dumps(known, sort_keys=True, default=str, ensure_ascii=False)


def content_key(document: Document) -> str:
    """Sixteen hex digits from origin, place and text: equal text from two sources stays two."""
    place = [document.metadata.get("start_index"), document.metadata.get("end_index")]
    parts = json.dumps([_origin(document), place, document.page_content], default=str)
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def identity(document: Document, *, id_key: str | None = None) -> str:
    """What a document is called in a ranking: `metadata[id_key]`, its id, its place, or source and content."""
    if id_key is not None and document.metadata.get(id_key) is not None:
        return str(document.metadata[id_key])
    if document.id:
        return str(document.id)
    source, start = document.metadata.get("source"), document.metadata.get("start_index")
    if source is not None and isinstance(start, int) and start >= 0:
        return f"{source}:{start}-{document.metadata.get('end_index', start + len(document.page_content))}"
    return f"{source}#{content_key(document)}" if source is not None else content_key(document)


def identities(arms: Iterable[Sequence[Document]], *, id_key: str | None = None) -> list[list[str]]:
    """The identity of every document of every arm.

    A document without an id takes the id under which another arm returned the same text of the same origin: vector
    stores mint ids, keyword retrievers do not, and the document is one.
    """
    lists = [list(documents) for documents in arms]
    if id_key is not None or all(document.id for documents in lists for document in documents):
        return [[identity(document, id_key=id_key) for document in documents] for documents in lists]
    known: dict[str, str] = {}
    for documents in lists:
        for document in documents:
            if document.id:
                known.setdefault(content_key(document), str(document.id))
    return [
        [identity(d) if d.id else known.get(content_key(d)) or identity(d) for d in documents] for documents in lists
    ]
