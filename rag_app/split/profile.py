"""One setting that maps kinds of documents to splitters and sizes: "one size for all" is not the default."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field, model_validator

from rag_app.split.base import ChunkSpan, SpanSplitter, trim
from rag_app.split.blocks import find_blocks
from rag_app.split.code import CodeSplitter
from rag_app.split.page import PageSplitter
from rag_app.split.parent import ParentSplitter
from rag_app.split.recursive import RecursiveSplitter
from rag_app.split.semantic import SemanticSplitter
from rag_app.split.sentence import SentenceWindowSplitter
from rag_app.split.structure import HtmlSplitter, MarkdownSplitter
from rag_app.types import Heading, LoadedDocument, Span, section_paths

_MOST_CHARACTERS = 12  # to a token, in any text that is not made of spaces

Member = Annotated[
    RecursiveSplitter
    | SemanticSplitter
    | SentenceWindowSplitter
    | ParentSplitter
    | MarkdownSplitter
    | HtmlSplitter
    | CodeSplitter
    | PageSplitter,
    Field(discriminator="kind"),
]


class Profile(BaseModel):
    """Documents that match every given condition are split by `splitter`."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="What this kind of document is called in reports.")
    glob: list[str] = Field(default_factory=list, description="Patterns of `source`, such as `contracts/*.pdf`.")
    document_type: list[str] = Field(default_factory=list, description="Values of the metadata field `document_type`.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="Metadata fields and the values they must have.")
    splitter: Member

    def matches(self, document: Document) -> bool:
        """Whether the document meets every condition; a profile without conditions matches all."""
        source, kind = str(document.metadata.get("source", "")), document.metadata.get("document_type")
        return (
            (not self.glob or any(fnmatchcase(source, pattern) for pattern in self.glob))
            and (not self.document_type or kind in self.document_type)
            and all(document.metadata.get(key) == value for key, value in self.metadata.items())
        )


def default_profiles() -> list[Profile]:
    """Code by its syntax, contracts with sentences repeated at the seams, tables whole where they fit.

    Sizes are characters that fit a window of 256 tokens: prose has four to a token, code three, rows of numbers two.
    What does not fit nevertheless (Chinese has a token for each character) is split when the embedder is known.
    """
    contract = MarkdownSplitter(chunk_size=700, chunk_overlap=175, oversized="split")
    table = MarkdownSplitter(chunk_size=450, oversized="split")
    return [
        Profile(name="code", document_type=["code"], splitter=CodeSplitter(chunk_size=550, oversized="split")),
        Profile(name="contract", document_type=["contract"], splitter=contract),
        Profile(name="table", document_type=["table", "records"], splitter=table),
    ]


def _default() -> MarkdownSplitter:
    # The size with the best recall for what is read, of those that fit the window: see benchmarks/chunks.
    return MarkdownSplitter(chunk_size=600, oversized="split")


class WholeSplitter(SpanSplitter):
    """The document as one chunk; what is above the embedder's window is embedded part by part."""

    oversized: Literal["warn", "error", "split", "ignore"] = "ignore"

    def spans(self, text: str) -> list[Span]:
        span = trim(text, 0, len(text))
        return [] if span is None else [span]

    def document_spans(self, document: Document) -> list[ChunkSpan]:
        path = next((path for _, path in section_paths(headings_of(document))), None)
        return [ChunkSpan(span, section_path=path) for span in self.spans(document.page_content)]


def headings_of(document: Document) -> list[Heading]:
    """The headings that a loader found; those in the text where it found none."""
    known = document.layout.headings if isinstance(document, LoadedDocument) else ()
    text = document.page_content
    blocks = () if known else find_blocks(text, None)
    found = (Heading(start=b.span.start, level=b.level, title=b.title) for b in blocks if b.kind == "heading")
    return [*known, *found]


class ProfileSplitter(SpanSplitter):
    """Splits each document by the first profile that matches it, and by `default` when none does.

    A short document that no profile matches stays whole, unless it has sections or pages of its own: cutting an
    abstract or a paragraph costs retrieval more than its length does (benchmarks/retrieval).
    """

    kind: Literal["auto"] = "auto"
    whole_below: int = Field(
        default=768,
        ge=0,
        description="A document without sections stays whole up to so many tokens; 0, also where `default` is given.",
    )
    profiles: list[Profile] = Field(
        default_factory=default_profiles, description="Kinds of documents, first match wins."
    )
    default: Member = Field(default_factory=_default, description="For all others.")

    @model_validator(mode="before")
    @classmethod
    def _own_sizes_hold(cls, values: Any) -> Any:
        # Who gives a splitter of their own means its sizes.
        if isinstance(values, dict) and "default" in values:
            return {"whole_below": 0, **values}
        return values

    def for_document(self, document: Document) -> SpanSplitter:
        """The splitter for this document."""
        found = next((profile.splitter for profile in self.profiles if profile.matches(document)), None)
        if found is not None:
            return found
        return self.sharing(WholeSplitter()) if self._stays_whole(document) else self.default

    def _stays_whole(self, document: Document) -> bool:
        text = document.page_content
        if len(text) > _MOST_CHARACTERS * self.whole_below:
            return False
        if isinstance(document, LoadedDocument) and len(document.layout.pages) > 1:
            return False
        size = self.count_tokens(text) if self.count_tokens else len(text) // 4
        return size <= self.whole_below and len(headings_of(document)) <= 1

    def spans(self, text: str) -> list[Span]:
        return self.for_document(Document(page_content=text)).spans(text)

    def document_spans(self, document: Document) -> list[ChunkSpan]:
        return self.for_document(document).document_spans(document)

    def chunks(self, document: Document) -> list[Document]:
        return self.for_document(document).chunks(document)

    @property
    def members(self) -> Sequence[SpanSplitter]:
        """Every splitter that may be chosen."""
        return [*(profile.splitter for profile in self.profiles), self.default]

    @property
    def allowed_tokens(self) -> int:
        """Chunks of up to so many tokens are meant to be: nobody need be warned of them."""
        return self.whole_below

    @property
    def needs_embedder(self) -> bool:
        return any(member.needs_embedder for member in self.members)

    @property
    def uses_tokens(self) -> bool:
        return any(member.uses_tokens for member in self.members)

    def bind(self, **values: Any) -> Self:
        profiles = [p.model_copy(update={"splitter": p.splitter.bind(**values)}) for p in self.profiles]
        return super().bind(**values).model_copy(update={"profiles": profiles, "default": self.default.bind(**values)})
