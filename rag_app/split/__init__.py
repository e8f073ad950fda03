"""Splitters: documents into chunks that are exact slices of their text. The union `Splitter` lists the members."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_app.split.base import ChunkSpan, OversizedChunkWarning, SpanSplitter
from rag_app.split.profile import Profile, ProfileSplitter
from rag_app.split.recursive import RecursiveSplitter

Splitter = Annotated[RecursiveSplitter | ProfileSplitter, Field(discriminator="kind")]

__all__ = [
    "ChunkSpan",
    "OversizedChunkWarning",
    "Profile",
    "ProfileSplitter",
    "RecursiveSplitter",
    "SpanSplitter",
    "Splitter",
]
