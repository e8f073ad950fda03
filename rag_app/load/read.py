"""One file or attachment to its documents: finds the reader, calls it, and turns every fault into a record."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rag_app.load.guess import document_type
from rag_app.load.kinds import detect, suffix_of
from rag_app.load.parsed import Failed, Fault, ReadOptions, Result, normalized

Reader = Callable[[bytes, str, ReadOptions], list[Result]]

READERS = {
    "text": "text:read_text", "code": "text:read_code", "markdown": "markdown:read_markdown", "html": "html:read_html",
    "csv": "tables:read_csv", "pdf": "pdf:read_pdf", "rst": "rst:read_rst", "docx": "docx:read_docx",
    "pptx": "pptx:read_pptx", "xlsx": "xlsx:read_xlsx", "ole": "encrypted:read_ole", "epub": "epub:read_epub",
    "odf": "odf:read_odf", "rtf": "rtf:read_rtf", "json": "records:read_json", "jsonl": "records:read_jsonl",
    "notebook": "records:read_notebook", "email": "mail:read_email", "mbox": "mail:read_mbox",
}  # fmt: skip

# Names that the loader, the splitters, the retrievers and the expanders write: no place for a file's own metadata.
_OURS = frozenset((
    "source", "doc_id", "characters", "parent_source", "sha256", "size", "mtime", "page", "page_count", "page_label",
    "section_path", "chunk_index", "start_index", "end_index", "parent", "window", "embed_text", "anchor", "anchors",
    "stages", "relevance_score",
))  # fmt: skip


def read(data: bytes, name: str, options: ReadOptions) -> list[Result]:
    """The documents of a file, normalized, and the parts that failed. Never empty, never raises for a bad file."""
    try:
        if not data.strip():
            raise Fault("empty", "the file holds only white space" if data else "the file is empty")
        results = _reader(detect(data, name))(data, name, options)
    except Fault as fault:
        return [Failed("", fault.error, fault.reason)]
    except MemoryError:
        return [Failed("", "memory", "needs more memory than the limit; raise load.memory_limit_mb")]
    except ImportError as error:
        return [Failed("", "missing_extra", str(error))]
    except RecursionError:
        return [Failed("", "broken", "nested too deeply to be read")]
    except Exception as error:  # a parser that trips over a damaged file fails this file alone
        if "alloc" in str(error).lower() or "out of memory" in str(error).lower():  # libxml2 and pdfium say it so
            return [Failed("", "memory", "needs more memory than the limit; raise load.memory_limit_mb")]
        return [Failed("", "broken", f"the reader failed: {type(error).__name__}: {_short(error)}")]
    return [_finish(result, name) for result in results] or [Failed("", "empty", "holds no text")]


def _reader(kind: str) -> Reader:
    module, function = READERS[kind].split(":")
    reader: Reader = getattr(importlib.import_module(f"rag_app.load.{module}"), function)
    return reader


def _finish(result: Result, name: str) -> Result:
    if isinstance(result, Failed):
        return result
    parsed = normalized(result)
    if not parsed.text:
        return Failed(parsed.part, "empty", "holds no text")
    metadata = {"format": parsed.format, **_own(parsed.metadata)}
    metadata["document_type"] = metadata.get("document_type") or document_type(parsed, name)
    if not metadata.get("title"):
        stem = (parsed.part or name).rsplit("/", 1)[-1]
        metadata["title"] = stem.removesuffix(suffix_of(stem)) or stem
    if parsed.pages:
        metadata["page_count"] = len(parsed.pages)
    return replace(parsed, metadata=metadata)


def _own(found: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says of itself; `parent` in a page's front matter is no span of ours and becomes `own_parent`."""
    metadata = {f"own_{key}" if key in _OURS else key: value for key, value in found.items()}
    for key in ("title", "document_type"):
        if metadata.get(key) is not None and not isinstance(metadata[key], str):
            value = metadata[key]
            metadata[key] = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return metadata


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or "no message"


def attached(data: bytes, name: str, options: ReadOptions) -> list[Result]:
    """The documents of a file inside a file; `part` starts with its name. Faults when nested too deeply."""
    if options.depth <= 0:
        return [Failed(name, "nested", "files inside files inside files: nested too deeply")]
    results = read(data, name, replace(options, depth=options.depth - 1))
    return [replace(result, part=f"{name}#{result.part}" if result.part else name) for result in results]
