"""What an ingest did, as a record and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rag_app.split.checkpoints import Checkpoints


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What happened. `documents` and `chunks` are those the index holds now; the other counts are documents.

    `failed` are (source, reason); `tested` how many chunks were searched for afterwards, by both rankings;
    `equal` are groups of sources that came with the same text: documents of their own, all of them citable;
    `checkpoints` what was measured on the chunks that were made, where the splitter yields spans; `dense_recall` the
    share of true neighbors that `hnsw` or `int8` finds (None for an exact index).
    """

    documents: int
    chunks: int
    added: int
    updated: int
    deleted: int
    skipped: int
    failed: tuple[dict[str, str], ...] = ()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    equal: tuple[tuple[str, ...], ...] = ()
    tested: int = 0
    checkpoints: Checkpoints | None = None
    dense_recall: float | None = None
    dry_run: bool = False

    def joined(self, later: IngestReport) -> IngestReport:
        """Two steps as one report; what the index holds is what it holds after the later one."""
        return replace(
            later,
            added=self.added + later.added,
            updated=self.updated + later.updated,
            deleted=self.deleted + later.deleted,
            skipped=self.skipped + later.skipped,
            failed=(*self.failed, *later.failed),
            seconds=self.seconds + later.seconds,
            warnings=(*self.warnings, *later.warnings),
            equal=(*self.equal, *later.equal),
            tested=max(self.tested, later.tested),
            dense_recall=self.dense_recall if later.dense_recall is None else later.dense_recall,
        )


def report_json(report: IngestReport) -> Mapping[str, Any]:
    """The report as `rag-app index --json` prints it."""
    return {
        "documents": report.documents,
        "chunks": report.chunks,
        "added": report.added,
        "updated": report.updated,
        "deleted": report.deleted,
        "skipped": report.skipped,
        "failed": list(report.failed),
        "seconds": round(report.seconds, 3),
        "warnings": list(report.warnings),
        "equal": [list(sources) for sources in report.equal],
        "tested": report.tested,
        "checkpoints": _checkpoints_json(report.checkpoints),
        "dense_recall": report.dense_recall,
    }


def _checkpoints_json(measured: Checkpoints | None) -> dict[str, Any] | None:
    if measured is None:
        return None
    values = dataclasses.asdict(measured)
    del values["warnings"]  # they stand among the report's
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()}
