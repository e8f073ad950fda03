"""What every splitter shares: spans in, chunks out, and LangChain's `TextSplitter` methods on top of both.

A splitter names spans of a text; the chunks are the slices. Nothing re-joins text, so offsets are never guessed.
"""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Self, TypeVar

from langchain_core.documents import Document
from langchain_text_splitters import TextSplitter
from pydantic import BaseModel, ConfigDict, Field

from rag_app.split.blocks import path_over
from rag_app.types import (
    ConfigError,
    Heading,
    Layout,
    LoadedDocument,
    Span,
    as_span,
    make_chunk_id,
    make_doc_id,
    section_paths,
)

Other = TypeVar("Other", bound="SpanSplitter")


class OversizedChunkWarning(UserWarning):
    """A chunk has more tokens than the embedder reads: what stands in its tail cannot be found by its vector."""


class ChunkSpan(NamedTuple):
    """A chunk before it is one: its span, and where they apply the bigger spans that it stands for."""

    span: Span
    parent: Span | None = None
    window: Span | None = None
    section_path: tuple[str, ...] | None = None
    context: str | None = None


class SpanSplitter(BaseModel, TextSplitter):
    """Splits documents into chunks that are exact slices of their text.

    A subclass says which spans (`spans`, or `document_spans` when it needs the layout). `length_function`,
    `count_tokens` and `max_tokens` are given at run time: a measure of one's own, the embedder's tokenizer, and its
    window. A document that is itself a chunk (it has `doc_id`, `start_index` and `end_index`) is split further with
    offsets in the same text, so that chunks of parents stay slices of the document.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    length: Literal["characters", "tokens"] = Field(
        "characters", description="What sizes count: characters, or tokens of the embedder."
    )
    embed_context: Literal["none", "headings", "model"] = Field(
        "none", description="What is embedded before a chunk's text: title and headings, or a model's words."
    )
    oversized: Literal["warn", "error", "split", "ignore"] = Field(
        "warn", description="What to do with a chunk that is longer than the embedder's window."
    )
    length_function: Callable[[str], int] | None = Field(None, exclude=True, repr=False)
    count_tokens: Callable[[str], int] | None = Field(None, exclude=True, repr=False)
    max_tokens: int | None = Field(None, exclude=True, repr=False)
    write_context: Callable[[str, str], str] | None = Field(None, exclude=True, repr=False)

    @abstractmethod
    def spans(self, text: str) -> list[Span]:
        """The spans of the chunks of `text`, in order; no two are equal, none begins or ends with white space."""

    def document_spans(self, document: Document) -> list[ChunkSpan]:
        """The chunks of `document`, offsets in its own text; splitters that use the layout override this."""
        return [ChunkSpan(span) for span in self.spans(document.page_content)]

    def for_document(self, document: Document) -> SpanSplitter:
        """The splitter that this document gets: itself, but for profiles."""
        return self

    @property
    def target_size(self) -> int | None:
        """The size that chunks aim at, in units of `length`; None when the splitter has no such aim."""
        return None

    # ------------------------------------------------------------------------------------------------------- measuring

    @property
    def measures_characters(self) -> bool:
        """Sizes are plain characters, so that no text has to be measured."""
        return self.length_function is None and self.length == "characters"

    def measure(self, text: str) -> int:
        """The size of `text` in the splitter's unit; ConfigError when tokens are asked for and nothing counts them."""
        if self.length_function is not None:
            return self.length_function(text)
        if self.length == "characters":
            return len(text)
        if self.count_tokens is None:
            raise ConfigError(
                'split.length is "tokens" but nothing counts them; give `count_tokens` (an embedder has it), '
                'or set split.length to "characters"'
            )
        return self.count_tokens(text)

    @property
    def needs_embedder(self) -> bool:
        """Whether the splitter cannot work before `bind` gave it an embedder or its tokenizer."""
        return self.length == "tokens" and self.length_function is None and self.count_tokens is None

    @property
    def uses_tokens(self) -> bool:
        """Whether the chunks may differ with the embedder's tokenizer."""
        return self.needs_embedder or self.oversized == "split"

    def sharing(self, other: Other) -> Other:
        """`other` with this splitter's unit and measures."""
        names = ("length", "length_function", "count_tokens", "max_tokens")
        return other.model_copy(update={name: getattr(self, name) for name in names})

    def bind(self, **values: Any) -> Self:
        """A copy with run-time fields (`count_tokens`, `max_tokens`, `embeddings`, ...) that this splitter has."""
        known = {name: value for name, value in values.items() if name in type(self).model_fields}
        return self.model_copy(update=known)

    # ------------------------------------------------------------------------------------------------ LangChain's names

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        """The chunks of all `documents`, in order. The documents stay as they are."""
        return [chunk for document in documents for chunk in self.chunks(document)]

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """The same as `transform_documents`, under LangChain's name."""
        return self.transform_documents(list(documents))

    def create_documents(self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None) -> list[Document]:
        """The chunks of bare texts with their metadata."""
        metadatas = metadatas if metadatas is not None else [{} for _ in texts]
        return self.transform_documents(
            [Document(page_content=t, metadata=m) for t, m in zip(texts, metadatas, strict=True)]
        )

    def split_text(self, text: str) -> list[str]:
        """The chunks' texts."""
        return [chunk.page_content for chunk in self.chunks(Document(page_content=text))]

    # ---------------------------------------------------------------------------------------------------------- chunks

    def chunks(self, document: Document) -> list[Document]:
        """The chunks of one document: slices of its text with id, offsets, page and section path."""
        text, metadata = document.page_content, document.metadata
        base = _base_offset(document)
        doc_id = str(metadata.get("doc_id") or document.id or make_doc_id(str(metadata.get("source", "")), text))
        layout = document.layout if isinstance(document, LoadedDocument) else Layout()
        sections = section_paths(layout.headings)
        chunks = []
        for index, piece in enumerate(self._fitting_pieces(document)):
            own = {key: value for key, value in copy.deepcopy(metadata).items() if not _is_stale(key, value)}
            span = piece.span.shift(base)
            own |= {"doc_id": doc_id, "start_index": span.start, "end_index": span.end, "chunk_index": index}
            own |= _place(layout, sections, piece)
            if piece.parent is not None:
                own["parent"] = list(piece.parent.shift(base))
            if piece.window is not None:
                own["window"] = list(piece.window.shift(base))
            body = piece.span.slice(text)
            prefix = self._context(document, piece, own)
            if prefix:
                own["embed_text"] = f"{prefix}\n\n{body}"
            chunks.append(Document(id=make_chunk_id(doc_id, span), page_content=body, metadata=own))
        self._check_window(chunks)
        return chunks

    def _fitting_pieces(self, document: Document) -> list[ChunkSpan]:
        """The chunks; with `oversized="split"` those above the embedder's window in parts that fit."""
        pieces, count, most = self.document_spans(document), self.count_tokens, self.max_tokens
        if self.oversized != "split" or count is None or most is None:
            return pieces
        from rag_app.split.recursive import RecursiveSplitter

        fitting: dict[Span, ChunkSpan] = {}
        for piece in pieces:
            body = piece.span.slice(document.page_content)
            # What is embedded before the chunk takes its part of the window.
            room = max(1, most // 2, most - (count(piece.context) if piece.context else 0))
            cutter = RecursiveSplitter(chunk_size=room, length_function=count)
            for span in cutter.spans(body) if count(body) > room else [Span(0, len(body))]:
                own = span.shift(piece.span.start)
                fitting.setdefault(own, piece._replace(span=own))
        return list(fitting.values())

    def _context(self, document: Document, piece: ChunkSpan, metadata: dict[str, Any]) -> str:
        parts = [piece.context] if piece.context else []
        if self.embed_context == "headings":
            title, path = str(metadata.get("title") or ""), list(metadata.get("section_path") or ())
            heads = path if path and path[0] == title else [title, *path]
            parts.insert(0, " > ".join(head for head in heads if head))
        if self.embed_context == "model":
            if self.write_context is None:
                raise ConfigError(
                    'split.embed_context is "model" but there is no model; give `write_context` '
                    '(see `rag_app.split.chat_context`), or set it to "headings"'
                )
            parts.insert(0, self.write_context(document.page_content, piece.span.slice(document.page_content)).strip())
        return "\n".join(part for part in parts if part)

    def _check_window(self, chunks: Sequence[Document]) -> None:
        if self.count_tokens is None or self.max_tokens is None or self.oversized == "ignore":
            return
        for chunk in chunks:
            text = str(chunk.metadata.get("embed_text", chunk.page_content))
            # A token is at least one byte: short texts need no tokenizer.
            if len(text) * 4 <= self.max_tokens:
                continue
            tokens = self.count_tokens(text)
            if tokens > self.max_tokens:
                source = chunk.metadata.get("source", "a document")
                message = (
                    f"chunk {chunk.id} of {source} has {tokens} tokens, the embedder reads {self.max_tokens}: "
                    "its tail cannot be found; make the chunks smaller"
                )
                if self.oversized == "error":
                    raise ConfigError(message)
                warnings.warn(message, OversizedChunkWarning, stacklevel=4)


def part_of(document: Document, span: Span) -> LoadedDocument:
    """One stretch of the document as a document, with the headings that lie in it; offsets are the stretch's own."""
    known = document.layout.headings if isinstance(document, LoadedDocument) else ()
    headings = tuple(
        Heading(start=heading.start - span.start, level=heading.level, title=heading.title)
        for heading in known
        if span.start <= heading.start < span.end
    )
    return LoadedDocument(page_content=span.slice(document.page_content), layout=Layout(headings=headings))


def _base_offset(document: Document) -> int:
    """Where the document's text starts in the text its offsets refer to: 0, unless it is a chunk itself."""
    metadata = document.metadata
    start, end = metadata.get("start_index"), metadata.get("end_index")
    if "doc_id" not in metadata or not isinstance(start, int) or not isinstance(end, int):
        return 0
    return start if start >= 0 and end - start == len(document.page_content) else 0


def _is_stale(key: str, value: Any) -> bool:
    """Whether this is what an earlier splitter noted of its own chunks; it is not true of the pieces of one."""
    return key == "embed_text" or (key in ("parent", "window") and as_span(value) is not None)


def _place(layout: Layout, sections: Sequence[tuple[int, tuple[str, ...]]], piece: ChunkSpan) -> dict[str, Any]:
    """Page, page label and section path of a chunk, as far as the layout (or the splitter) knows them."""
    place: dict[str, Any] = {}
    page = layout.page_at(piece.span.start)
    if page is not None:
        place["page"] = page
        label = layout.pages[page - 1].label
        if label is not None and label != str(page):
            place["page_label"] = label
    if piece.section_path is not None:
        place["section_path"] = list(piece.section_path)
    elif sections:
        place["section_path"] = list(path_over(sections, piece.span) or ())
    return place


def trim(text: str, start: int, end: int) -> Span | None:
    """The span without white space at its ends; None when nothing else is there."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left == len(piece):
        return None
    return Span(start + left, start + len(piece.rstrip()))
