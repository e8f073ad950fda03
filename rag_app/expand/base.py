"""What expanders share: bigger spans of the same document, overlaps merged, no text twice, the anchor kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field

from rag_app.trace import Ranked, Removal, trace_of
from rag_app.types import ConfigError, LoadedDocument, Span

if TYPE_CHECKING:
    from rag_app.index.base import Index


@dataclass(slots=True)
class _Place:
    """A span on its way out: the chunk it grew from, and every chunk that it took in."""

    chunk: Document
    span: Span
    anchors: list[Span] = field(default_factory=list)


class Expander(BaseModel):
    """Hands on chunks as bigger spans of their documents.

    An expanded document keeps the id of its chunk; `start_index` and `end_index` are the bigger span, `anchor` is
    `[start, end]` of the chunk itself, and `anchors` lists all chunks whose text came together in it. A chunk without a
    place in a stored document (from a foreign retriever) goes on as it is.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    max_characters: int = Field(default=6000, ge=1, description="The longest span, unless the chunk itself is longer.")
    index: Any = Field(default=None, exclude=True, repr=False)

    def span(self, chunk: Document, text: str) -> Span:
        """The bigger span of one chunk, in characters of the document's `text`."""
        raise NotImplementedError

    @property
    def joins_within(self) -> int:
        """Characters between two spans that are joined all the same; -1 joins only those that overlap."""
        return -1

    def expand(self, documents: Sequence[Document]) -> Ranked:
        """The expanded documents, in the order given; what was taken into an earlier one is in the trace as merged."""
        trace = trace_of(documents)
        sources: dict[str, LoadedDocument] = {}
        places: list[_Place | Document] = []
        removed: list[Removal] = []
        for chunk in documents:
            doc_id, own = chunk.metadata.get("doc_id"), _own_span(chunk)
            if doc_id is None or own is None:
                places.append(chunk)
                continue
            if doc_id not in sources:
                sources[doc_id] = self._corpus.document(doc_id)
            text = sources[doc_id].page_content
            wanted = within(self.span(chunk, text), own, self.max_characters, len(text))
            earlier = [p for p in places if isinstance(p, _Place) and p.chunk.metadata["doc_id"] == doc_id]
            taker = _settle(earlier, wanted, own, text, limit=self.max_characters, gap=self.joins_within)
            if isinstance(taker, _Place):
                taker.anchors.append(own.clip(taker.span))
                removed.append(Removal(str(chunk.id), "expand", "merged", f"its text is in {taker.chunk.id}"))
            else:
                # What an earlier place shows of the chunk is not shown twice: the anchor is what stands here.
                places.append(_Place(chunk, taker, [own.clip(taker)]))
        out = [p if isinstance(p, Document) else _document(p, sources[p.chunk.metadata["doc_id"]]) for p in places]
        return Ranked(out, trace.add("expand", None, removed=removed))

    def __call__(self, documents: Sequence[Document]) -> Ranked:
        return self.expand(documents)

    @property
    def _corpus(self) -> Index:
        if self.index is None:
            raise ConfigError(f"expand: {type(self).__name__} needs the index that holds the documents")
        index: Index = self.index
        return index


def within(span: Span, own: Span, limit: int, length: int) -> Span:
    """`span` cut to `limit` characters around the chunk `own`, which always stays whole, and to the text."""
    start, end = max(0, min(span.start, own.start)), min(length, max(span.end, own.end))
    excess = (end - start) - max(limit, own.end - own.start)
    if excess <= 0:
        return Span(start, end)
    before, after = own.start - start, end - own.end
    # The longer side gives first, so that the chunk stays near the middle.
    from_before = min(before, max(0, (excess + before - after + 1) // 2))
    from_after = min(after, excess - from_before)
    return Span(start + excess - from_after, end - from_after)


def _settle(earlier: Sequence[_Place], wanted: Span, own: Span, text: str, *, limit: int, gap: int) -> _Place | Span:
    """The earlier place that takes the chunk in, or the span that is left for it beside the earlier ones."""
    for place in earlier:
        if place.span.start <= own.start and own.end <= place.span.end:
            return place
    for place in earlier:
        union = Span(min(place.span.start, wanted.start), max(place.span.end, wanted.end))
        others = [p for p in earlier if p is not place and p.span.overlaps(union)]
        apart = max(place.span.start, wanted.start) - min(place.span.end, wanted.end)
        if apart <= gap and union.end - union.start <= limit and not others:
            place.span = union
            return place
    for place in earlier:
        if place.span.overlaps(wanted):
            # Too long together: the later one keeps the part that the earlier one does not show.
            left, right = Span(wanted.start, place.span.start), Span(place.span.end, wanted.end)
            wanted = left if _shared(left, own) >= _shared(right, own) else right
    shown = max(earlier, key=lambda place: _shared(place.span, own), default=None)
    left_over = own.clip(wanted).slice(text).strip()
    if shown is not None and _shared(shown.span, own) > 0 and not left_over:
        return shown  # several earlier ones together show all of it
    return wanted


def _shared(part: Span, own: Span) -> int:
    return min(part.end, own.end) - max(part.start, own.start)


def _own_span(chunk: Document) -> Span | None:
    start, end = chunk.metadata.get("start_index"), chunk.metadata.get("end_index")
    return Span(start, end) if isinstance(start, int) and isinstance(end, int) and start >= 0 else None


def _document(place: _Place, source: LoadedDocument) -> Document:
    span, chunk = place.span, place.chunk
    metadata = {
        **chunk.metadata,
        "start_index": span.start,
        "end_index": span.end,
        "anchor": list(place.anchors[0]),
        "anchors": [list(anchor) for anchor in place.anchors],
    }
    page = source.layout.page_at(span.start) if isinstance(source, LoadedDocument) else None
    if page is not None:
        metadata["page"] = page
    return chunk.model_copy(update={"page_content": span.slice(source.page_content), "metadata": metadata})
