"""A segment under the writer's hand, and documents that wait for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_app.index.local.container import Array
from rag_app.index.local.segment import Segment
from rag_app.index.local.state import LiveSegment

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.types import LoadedDocument


@dataclass
class Part:
    """A segment under the writer's hand: which rows and documents are live, and its entry in the manifest."""

    segment: Segment
    entry: dict[str, Any]
    live: Array
    live_documents: Array
    changed: bool = False

    def remove_rows(self, rows: Array) -> int:
        """Tombstones for rows, and for documents that have no chunk left; the number of rows that were live."""
        rows = rows[self.live[rows]]
        if not len(rows):
            return 0
        self.live[rows] = False
        self.changed = True
        for number in np.unique(self.segment.doc_of_row[rows]).tolist():
            if not self.live[self.segment.rows_of_document(number)].any():
                self.live_documents[number] = False
        return len(rows)

    def remove_document(self, number: int) -> int:
        """Tombstones for a document and its chunks; the number of chunks that were live."""
        removed = self.remove_rows(self.segment.rows_of_document(number))
        if self.live_documents[number]:
            self.live_documents[number] = False
            self.changed = True
        return removed


@dataclass
class Pending:
    """A document that waits for its segment; `vectors` by chunk id where they are known already."""

    document: LoadedDocument
    chunks: Sequence[Document]
    fingerprint: str
    vectors: dict[str, Array | None] = field(default_factory=dict)


def open_part(part: Part) -> LiveSegment:
    """The part as readers see it."""
    return LiveSegment(part.segment, np.flatnonzero(~part.live), np.flatnonzero(~part.live_documents))
