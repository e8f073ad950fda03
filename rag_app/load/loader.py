"""The loader: files and folders to documents, each file in a worker process, failures beside the documents."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from rag_app.load.parsed import ReadOptions
from rag_app.load.pool import Limits, parse_all
from rag_app.load.walk import Found, find
from rag_app.text.normalize import normalize
from rag_app.types import Box, Heading, Layout, LoadedDocument, LoadError, LoadFailure, Page, make_doc_id

Progress = Callable[[int, int, str], None]


class Loader(BaseModel, BaseLoader):
    """Loads files, folders and Documents; its fields are the settings of the stage `load`."""

    model_config = ConfigDict(extra="forbid")

    include: list[str] = Field(
        default_factory=list, description="Patterns of files to load, as in .gitignore; empty: all."
    )
    exclude: list[str] = Field(default_factory=list, description="Patterns of files to leave out, as in .gitignore.")
    hidden: bool = Field(default=False, description="Also files and folders whose name starts with a dot.")
    passwords: list[SecretStr] = Field(default_factory=list, description="Tried in turn on protected files.")
    text_field: str | None = Field(
        default=None, description="JSON: the field that holds a record's text; else the record."
    )
    document_types: dict[str, str] = Field(default_factory=dict, description="Glob of `source` to `document_type`.")
    timeout: float = Field(default=60.0, gt=0, description="Seconds that one file may take.")
    memory_limit_mb: int = Field(default=1024, ge=256, description="Memory (address space) of one worker.")
    workers: int | None = Field(
        default=None, ge=1, description="Worker processes; as many as cores, at most 4, when unset."
    )
    on_failure: Literal["warn", "raise", "ignore"] = Field(
        default="warn", description="What `load` and `lazy_load` do about a file that fails; `load_all` yields it."
    )
    paths: list[Path] = Field(default_factory=list, exclude=True, repr=False)
    root: Path | None = Field(default=None, exclude=True, repr=False)

    def lazy_load(self) -> Iterator[Document]:
        """The documents of `paths`, one by one; LoadError or a warning for a file that fails, as `on_failure` says."""
        for item in self.load_all(self.paths):
            if not isinstance(item, LoadFailure):
                yield item
            elif self.on_failure == "raise":
                raise LoadError(f"{item.source}: {item.reason}")
            elif self.on_failure == "warn":
                warnings.warn(f"{item.source}: {item.reason}", stacklevel=2)

    def load_all(
        self, paths: Sequence[str | Path] | str | Path, progress: Progress | None = None
    ) -> Iterator[LoadedDocument | LoadFailure]:
        """Every file of `paths` as documents or as a failure with its reason, in a stable order."""
        found = list(
            find(
                [paths] if isinstance(paths, str | Path) else list(paths),
                root=self.root,
                include=self.include,
                exclude=self.exclude,
                hidden=self.hidden,
            )
        )
        files = [item for item in found if isinstance(item, Found)]
        answers = parse_all(
            [(item.path, item.size) for item in files],
            self.read_options(),
            limits=self.limits(),
            workers=self.processes(),
        )
        for done, item in enumerate(found, start=1):
            if isinstance(item, LoadFailure):
                yield item
            else:
                yield from self._finished(item.source, next(answers))
            if progress is not None:
                progress(done, len(found), "load")
        for _ in answers:  # lets the workers go
            pass

    def read_options(self) -> ReadOptions:
        """What the readers are told."""
        passwords = tuple(password.get_secret_value() for password in self.passwords)
        expanded = self.memory_limit_mb * 1024 * 1024 // 4
        return ReadOptions(passwords=passwords, text_field=self.text_field, max_expanded=expanded)

    def limits(self) -> Limits:
        """What one file may take."""
        return Limits(seconds=self.timeout, memory_mb=self.memory_limit_mb)

    def processes(self) -> int:
        """How many worker processes run at once."""
        if self.workers is not None:
            return self.workers
        return max(1, min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))

    def _finished(self, source: str, results: list[dict[str, Any]]) -> Iterator[LoadedDocument | LoadFailure]:
        taken: Counter[str] = Counter()
        for result in results:
            part = result["part"]
            taken[part] += 1
            name = f"{source}#{part}" if part else source
            name = f"{name}-{taken[part]}" if taken[part] > 1 else name
            if "error" in result:
                yield LoadFailure(name, result["error"], result["reason"])
                continue
            metadata = dict(result["metadata"])
            if part:
                metadata["parent_source"] = source
            metadata.update(_matching(self.document_types, name))
            yield make_document(name, result["text"], metadata, _layout(result))


def make_document(source: str, text: str, metadata: Mapping[str, Any], layout: Layout | None = None) -> LoadedDocument:
    """A loaded document of normalized `text`; its id comes from source and text."""
    doc_id = make_doc_id(source, text)
    return LoadedDocument(
        id=doc_id,
        page_content=text,
        metadata={**metadata, "source": source, "doc_id": doc_id, "characters": len(text)},
        layout=layout or Layout(),
    )


def load_path(
    path: str | Path, *, root: str | Path | None = None, options: Loader | None = None
) -> list[LoadedDocument | LoadFailure]:
    """The documents and failures of one file or folder; `source` is the path below `root`."""
    loader = options if options is not None else Loader()
    if root is not None:
        loader = loader.model_copy(update={"root": Path(root)})
    return list(loader.load_all([path]))


def from_documents(documents: Iterable[Document]) -> Iterator[LoadedDocument]:
    """Any iterable of LangChain Documents as loaded documents: text normalized, metadata kept, ids made.

    `source` is the Document's own, else its id, else `document-N` (N counts from 1). Documents that share a source (the
    pages of a file) get `#page=N` or `#N` behind it, so that each stays a document. Blank ones are left out.
    """
    counts: Counter[str] = Counter()
    for number, document in enumerate(documents, start=1):
        if isinstance(document, LoadedDocument) and document.id and document.id == document.metadata.get("doc_id"):
            yield document
            continue
        source = str(document.metadata.get("source") or document.id or f"document-{number}")
        counts[source] += 1
        name = source
        if document.metadata.get("page") is not None and "source" in document.metadata:
            name = f"{source}#page={document.metadata['page']}"
            counts[name] += 1
            name = name if counts[name] == 1 else f"{name}-{counts[name]}"
        elif counts[source] > 1:
            name = f"{source}#{counts[source]}"
        text = normalize(document.page_content).strip()
        if text:
            metadata = {"title": source, "document_type": "prose", **document.metadata}
            yield make_document(name, text, metadata, getattr(document, "layout", None))


def text_digest(document: Document) -> bytes:
    """SHA-256 of the document's text: equal texts have equal digests."""
    return hashlib.sha256(document.page_content.encode("utf-8", "surrogatepass")).digest()


def duplicates(documents: Iterable[Document]) -> list[list[str]]:
    """The sources of documents with equal text, each group in order; they stay documents of their own."""
    groups: defaultdict[bytes, list[str]] = defaultdict(list)
    for document in documents:
        groups[text_digest(document)].append(str(document.metadata.get("source", document.id)))
    return [group for group in groups.values() if len(group) > 1]


def _layout(result: Mapping[str, Any]) -> Layout:
    return Layout(
        pages=tuple(Page(start=s, end=e, label=label) for s, e, label in result["pages"]),
        headings=tuple(Heading(start=s, level=level, title=title) for s, level, title in result["headings"]),
        boxes=tuple(
            Box.model_construct(start=s, end=e, page=page, x0=x0, y0=y0, x1=x1, y1=y1)
            for s, e, page, x0, y0, x1, y1 in result["boxes"]
        ),
    )


def _matching(types: Mapping[str, str], source: str) -> dict[str, str]:
    chosen = [kind for pattern, kind in types.items() if fnmatchcase(source, pattern)]
    return {"document_type": chosen[-1]} if chosen else {}
