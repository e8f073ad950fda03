"""Flagged answers as a file for a person: one JSON object a line, the person's verdicts become evaluation data."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from rag_app.jsonable import lines_of
from rag_app.types import LABELS, ConfigError, Verdict, to_json
from rag_app.verify.report import VerificationReport

_APPENDING = threading.Lock()
ANSWERS = {"s": "supported", "p": "partially_supported", "c": "contradicted", "n": "not_found", "x": "not_checkable"}


def append_flagged(
    path: str | Path, question: str, report: VerificationReport, evidence: Sequence[str | Document]
) -> int:
    """Append a line for each unsupported claim of the report; returns how many."""
    flagged = report.unsupported()
    sources = [source if isinstance(source, str) else source.page_content for source in evidence]
    rows = (review_row(question, report.text, verdict, sources) for verdict in flagged)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with _APPENDING, Path(path).open("a", encoding="utf-8", errors="surrogatepass") as file:
        file.write(lines)
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
    try:
        text = Path(path).read_text(encoding="utf-8-sig", errors="surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read ({error}); give a review file, UTF-8 with a JSON object a line"
        ) from None
    rows = []
    for number, line in lines_of(text):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: line {number} is no JSON: {error}") from None
        if fault := _fault(row):
            raise ConfigError(f"{path}: line {number} {fault}")
        rows.append(row)
    return rows


def _fault(row: Any) -> str:
    """What keeps a line from being a claim to review; "" when nothing does."""
    if not isinstance(row, dict) or not isinstance(row.get("claim"), str):
        return 'has no text under "claim"'
    for key, needed in (("evidence", ("source", "text")), ("checks", ("name", "outcome"))):
        items = row.get(key) or []
        if not isinstance(items, list) or not all(
            isinstance(item, dict) and item.keys() >= {*needed} for item in items
        ):
            return f'has no list of objects with {" and ".join(needed)} under "{key}"'
    if not isinstance(row.get("machine"), dict):
        return 'has no object under "machine", so it is no claim that was flagged'
    return ""


def is_judged(row: dict[str, Any]) -> bool:
    """Has a person judged it: one of LABELS, or 1 and 0 as in a file of claims?"""
    return row.get("label") in (*LABELS, 0, 1)


def open_rows(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows that no person has judged yet, with their places."""
    return ((place, row) for place, row in enumerate(rows) if not is_judged(row))


def record(path: str | Path, place: int, claim: str, label: str) -> None:
    """Write a person's label into the row at `place`, whatever was appended meanwhile.

    Through a file beside it, so that a broken run loses nothing. ConfigError when another claim stands there by now.
    """
    with _APPENDING:
        rows = read_rows(path)
        if place >= len(rows) or rows[place]["claim"] != claim:
            raise ConfigError(f"{path} was changed while it was reviewed; run `rag-app review` again")
        rows[place]["label"] = label
        beside = Path(f"{path}.part")
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        beside.write_text("".join(lines), encoding="utf-8", errors="surrogatepass")
        beside.replace(path)
