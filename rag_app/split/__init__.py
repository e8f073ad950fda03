"""Splitters: documents into chunks that are exact slices of their text. The union `Splitter` lists the members."""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names
from rag_app.split.checkpoints import CheckpointCollector, Checkpoints, checkpoints

if TYPE_CHECKING:
    from rag_app.split.base import ChunkSpan, OversizedChunkWarning, SpanSplitter
    from rag_app.split.code import CodeSplitter
    from rag_app.split.context import chat_context
    from rag_app.split.members import Splitter
    from rag_app.split.page import PageSplitter
    from rag_app.split.parent import ParentSplitter
    from rag_app.split.profile import Profile, ProfileSplitter
    from rag_app.split.recursive import RecursiveSplitter
    from rag_app.split.semantic import SemanticSplitter
    from rag_app.split.sentence import SentenceWindowSplitter
    from rag_app.split.structure import HtmlSplitter, MarkdownSplitter

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

__getattr__ = lazy_names(
    __name__,
    {
        "base": ("ChunkSpan", "OversizedChunkWarning", "SpanSplitter"),
        "code": ("CodeSplitter",),
        "context": ("chat_context",),
        "members": ("Splitter",),
        "page": ("PageSplitter",),
        "parent": ("ParentSplitter",),
        "profile": ("Profile", "ProfileSplitter"),
        "recursive": ("RecursiveSplitter",),
        "semantic": ("SemanticSplitter",),
        "sentence": ("SentenceWindowSplitter",),
        "structure": ("HtmlSplitter", "MarkdownSplitter"),
    },
)
