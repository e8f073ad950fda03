"""Splitters: documents into chunks that are exact slices of their text. The union `Splitter` lists the members."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_app.split.base import ChunkSpan, OversizedChunkWarning, SpanSplitter
from rag_app.split.checkpoints import CheckpointCollector, Checkpoints, checkpoints
from rag_app.split.code import CodeSplitter
from rag_app.split.context import chat_context
from rag_app.split.page import PageSplitter
from rag_app.split.parent import ParentSplitter
from rag_app.split.profile import Profile, ProfileSplitter
from rag_app.split.recursive import RecursiveSplitter
from rag_app.split.semantic import SemanticSplitter
from rag_app.split.sentence import SentenceWindowSplitter
from rag_app.split.structure import HtmlSplitter, MarkdownSplitter

Splitter = Annotated[
    RecursiveSplitter
    | SemanticSplitter
    | SentenceWindowSplitter
    | ParentSplitter
    | MarkdownSplitter
    | HtmlSplitter
    | CodeSplitter
    | PageSplitter
    | ProfileSplitter,
    Field(discriminator="kind"),
]

__all__ = [
    "CheckpointCollector",
    "Checkpoints",
    "ChunkSpan",
    "CodeSplitter",
    "HtmlSplitter",
    "MarkdownSplitter",
    "OversizedChunkWarning",
    "PageSplitter",
    "ParentSplitter",
    "Profile",
    "ProfileSplitter",
    "RecursiveSplitter",
    "SemanticSplitter",
    "SentenceWindowSplitter",
    "SpanSplitter",
    "Splitter",
    "chat_context",
    "checkpoints",
]
