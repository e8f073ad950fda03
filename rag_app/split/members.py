"""The kinds that the settings know under `split`. A new one is one file and one line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_app.split.code import CodeSplitter
from rag_app.split.page import PageSplitter
from rag_app.split.parent import ParentSplitter
from rag_app.split.profile import ProfileSplitter
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
