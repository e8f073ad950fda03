"""`rag-app verify`: claims and their sources in, verdicts out, one line each."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_app.cli.common import ConfigOption, JsonOption, SetOption, emit, load_settings

if TYPE_CHECKING:
    from rag_app.verify import Verifier


_FAILED: dict[str, Any] = {"id": None, "label": "not_checkable", "score": 0.0, "evidence": [], "checks": []}


def register(app: typer.Typer) -> None:
    app.command()(verify)


def build_verifier(config: str | None, sets: list[str] | None, level: str | None) -> Verifier:
    """The verifier of the settings; without any, the default one, which loads nothing else."""
    from rag_app.types import ConfigError
    from rag_app.verify import Verifier

    if config or sets or any(name.startswith("RAG_APP_VERIFY") for name in os.environ):
        verifier = load_settings(config, sets).verify
    else:
        verifier = Verifier()
    if level is None:
        return verifier
    if level not in ("lexical", "entailment", "llm"):
        raise ConfigError(f"--level is {level!r}; it is one of lexical, entailment, llm")
    return verifier.model_copy(update={"level": level})


def verdict_line(row_id: Any, verdict: Any) -> dict[str, Any]:
    """A verdict as CLI.md promises it."""
    from rag_app.types import to_json

    return {
        "id": row_id,
        "label": verdict.label,
        "score": verdict.score,
        "level": verdict.level,
        "evidence": [{"source": e.source, "start": e.start, "end": e.end, "text": e.text} for e in verdict.evidence],
        "checks": [to_json(check) for check in verdict.checks],
        "reason": verdict.reason,
    }


def verify(
    as_json: JsonOption = False,
    level: Annotated[str | None, typer.Option("--level", help="lexical, entailment or llm.")] = None,
    config: ConfigOption = None,
    sets: SetOption = None,
) -> None:
    """Check claims against their sources: {"id", "claim", "source" or "sources"} a line on standard input."""
    verifier = build_verifier(config, sets, level)
    failed = False
    for number, line in enumerate(sys.stdin, start=1):
        if not line.strip():
            continue
        try:
            row_id, claim, sources = read_row(line, number)
        except ValueError as error:
            failed = True
            emit({**_FAILED, "level": verifier.level, "error": str(error)})
            continue
        verdict = verifier.verify_claim(claim, sources)
        line_out = verdict_line(row_id, verdict)
        if as_json:
            emit(line_out)
        else:
            typer.echo(f"{line_out['label']:<20} {line_out['score']:.2f}  {claim}")
    if failed:
        raise typer.Exit(1)


def read_row(line: str, number: int) -> tuple[Any, str, list[str]]:
    """(id, claim, sources) of a line; ValueError names the line and the fault."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number} is no JSON: {error}") from None
    if not isinstance(row, dict) or not isinstance(row.get("claim"), str):
        raise ValueError(f'line {number} has no text under "claim"')
    sources = row.get("sources", row.get("source"))
    if isinstance(sources, str):
        sources = [sources]
    if not isinstance(sources, list) or not all(isinstance(source, str) for source in sources):
        raise ValueError(f'line {number} needs a text under "source" or a list of texts under "sources"')
    return row.get("id"), row["claim"], sources
