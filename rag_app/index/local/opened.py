"""A committed state of an index, open for reading."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_app.errors import IndexDamagedError
from rag_app.index.local.identity import BuiltWith
from rag_app.index.local.mapped import SegmentFiles

if TYPE_CHECKING:
    from rag_app.index.local.snapshot import Snapshot
    from rag_app.index.settings import IndexSettings


class Opened:
    """The state that a manifest names. Its files are mapped when it is made; the rankings come with the first question.

    So opening needs no numpy, and whoever opened is not disturbed by what a writer removes afterwards. Who has just
    written the state has its rankings, the `snapshot`, and maps nothing.
    """

    def __init__(
        self, folder: Path, manifest: Mapping[str, Any], built_with: BuiltWith, snapshot: Snapshot | None = None
    ) -> None:
        self._folder = folder
        self._built_with = built_with
        segments = manifest["segments"] if snapshot is None else []
        self._files = [SegmentFiles(folder / "segments" / one["name"], one["deleted"]) for one in segments]
        self.count = int(manifest["counts"]["chunks"])
        self.dimension = int(manifest["embedder"]["dimension"]) if manifest["embedder"] else 0
        self._snapshot = snapshot
        self._making = threading.Lock()

    @property
    def snapshot(self) -> Snapshot:
        """Both rankings; any number of threads may ask for the first time."""
        with self._making:
            if self._snapshot is None:
                self._snapshot = self._made()
                self._files = []
            return self._snapshot

    def _made(self) -> Snapshot:
        from rag_app.index.local.snapshot import Snapshot
        from rag_app.index.local.state import live_segment

        try:
            parts = [live_segment(files, self.dimension) for files in self._files]
            return Snapshot(parts, self._built_with, self.dimension)
        except (IndexError, ValueError) as error:
            raise IndexDamagedError(
                f"the index in {self._folder} is damaged ({error}); rebuild with `rag-app index --rebuild`"
            ) from error

    @property
    def settings(self) -> IndexSettings:
        """Analyzer, formula and limits in effect."""
        return self._built_with.settings
