"""Flagged answers as a file for a person: one JSON object a line, the person's verdicts become evaluation data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from rag_app.jsonable import lines_of
from rag_app.types import LABELS, ConfigError, Verdict, to_json
from rag_app.verify.report import VerificationReport

ANSWERS = {"s": "supported", "p": "partially_supported", "c": "contradicted", "n": "not_found", "x": "not_checkable"}


def append_flagged(
    path: str | Path, question: str, report: VerificationReport, evidence: Sequence[str | Document]
) -> int:
    """Append a line for each unsupported claim of the report; returns how many."""
    flagged = report.unsupported()
    sources = [source if isinstance(source, str) else source.page_content for source in evidence]
    with Path(path).open("a", encoding="utf-8") as file:
        for verdict in flagged:
            file.write(json.dumps(review_row(question, report.text, verdict, sources), ensure_ascii=False) + "\n")
    return len(flagged)


def review_row(question: str, answer: str, verdict: Verdict, sources: Sequence[str]) -> dict[str, Any]:
    """A claim to review: `claim` and `sources` are what `rag-app eval verify` reads, `label` waits for the person."""
    return {
        "claim": verdict.claim.text,
        "sources": list(sources),
        "label": None,
        "question": question,
        "answer": answer,
        "machine": {"label": verdict.label, "score": verdict.score, "level": verdict.level},
        "evidence": to_json(verdict.evidence),
        "checks": to_json(verdict.checks),
    }


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a review file; ConfigError names a line that is none."""
    if not Path(path).is_file():
        raise ConfigError(f"{path} is no file; `ask` and `verify` write one when verify.review_file is set")
    rows = []
    for number, line in lines_of(Path(path).read_text(encoding="utf-8-sig")):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ConfigError(f"{path}: line {number} is no JSON: {error}") from None
        if not isinstance(row, dict) or "claim" not in row:
            raise ConfigError(f'{path}: line {number} has no "claim"')
        rows.append(row)
    return rows


def open_rows(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows that no person has judged yet, with their places."""
    return ((place, row) for place, row in enumerate(rows) if row.get("label") not in LABELS)


def write_rows(path: str | Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write all rows at once, through a file beside it, so that a broken run loses nothing."""
    beside = Path(f"{path}.part")
    beside.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    beside.replace(path)
