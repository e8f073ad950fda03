"""`rag-app verify`: claims and their sources in, verdicts out, one line each."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_app.cli.common import ConfigOption, JsonOption, SetOption, emit, load_settings, stdin_lines

if TYPE_CHECKING:
    from rag_app.verify.lexical import LexicalVerifier
    from rag_app.verify.verifier import Verifier


_SHOWN = 400
_FAILED: dict[str, Any] = {"id": None, "label": "not_checkable", "score": 0.0, "evidence": [], "checks": []}


def register(app: typer.Typer) -> None:
    app.command()(verify)
    app.command()(review)


def build_verifier(config: str | None, sets: list[str] | None, level: str | None) -> Verifier | LexicalVerifier:
    """The verifier of the settings; without any, the lexical one, which loads nothing else and starts quickly."""
    from rag_app.types import ConfigError

    if level not in (None, "lexical", "entailment", "llm"):
        raise ConfigError(f"--level is {level!r}; it is one of lexical, entailment, llm")
    has_settings = config or sets or any(name.startswith("RAG_APP_VERIFY") for name in os.environ)
    if not has_settings and level in (None, "lexical"):
        from rag_app.verify.lexical import LexicalVerifier, Thresholds

        return LexicalVerifier(Thresholds.default())
    from rag_app.pipeline.build import bind, chat_model_of

    settings = load_settings(config, sets)
    verifier: Verifier = settings.verify if level is None else settings.verify.model_copy(update={"level": level})
    if verifier.level == "llm" or verifier.claimify:
        verifier = bind(verifier, chat_model=chat_model_of(settings))
    verifier.judge()  # what is missing is said before the first claim is read
    return verifier


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
    from rag_app.types import ConfigError

    verifier = build_verifier(config, sets, level)
    review_file = getattr(verifier, "review_file", None)
    failed, unwritten = False, ""
    for number, line in stdin_lines():
        try:
            row_id, claim, sources = read_row(line, number)
        except ValueError as error:
            failed = True
            if as_json:
                emit({**_FAILED, "id": row_id_of(line), "level": verifier.level, "error": str(error)})
            else:
                typer.echo(f"failed: {error}", err=True)
            continue
        verdict = verifier.verify_claim(claim, sources)
        line_out = verdict_line(row_id, verdict)
        if as_json:
            emit(line_out)
        else:
            typer.echo(plain(f"{line_out['label']:<20} {line_out['score']:.2f}  {claim}"))
        if review_file and not unwritten:
            unwritten = _for_review(review_file, verdict, claim, sources)
    if unwritten:
        raise ConfigError(unwritten)
    if failed:
        raise typer.Exit(1)


def _for_review(path: str, verdict: Any, claim: str, sources: list[str]) -> str:
    """Put a claim without support into the review file; "", or why it could not be written."""
    from rag_app.verify.report import VerificationReport
    from rag_app.verify.review import append_flagged

    try:
        append_flagged(path, "", VerificationReport(claim, (verdict,)), sources)
    except OSError as error:
        return f"the review file {path} cannot be written: {error.strerror}; name another (verify.review_file)"
    return ""


def row_id_of(line: str) -> Any:
    """The id of a line that may be no good otherwise; None when it has none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row.get("id") if isinstance(row, dict) else None


def read_row(line: str, number: int) -> tuple[Any, str, list[str]]:
    """(id, claim, sources) of a line; ValueError names the line and the fault."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is no JSON: {error}") from None
    if not isinstance(row, dict) or not isinstance(row.get("claim"), str):
        raise ValueError(f'line {number} has no text under "claim"')
    sources = row["sources"] if row.get("sources") is not None else row.get("source")
    if isinstance(sources, str):
        sources = [sources]
    if not isinstance(sources, list) or not all(isinstance(source, str) for source in sources):
        raise ValueError(f'line {number} needs a text under "source" or a list of texts under "sources"')
    return row.get("id"), row["claim"], sources


def review(
    file: Annotated[Path, typer.Argument(help="A review file: flagged claims, one JSON object a line.")],
    as_json: JsonOption = False,
) -> None:
    """Walk through flagged claims with the evidence beside them, and record a person's verdicts in the file.

    With --json nothing is asked: each claim that waits is printed, one line each.
    """
    from rag_app.verify.review import ANSWERS, is_judged, open_rows, read_rows, record

    rows = read_rows(file)
    waiting = list(open_rows(rows))
    if as_json:
        for _, row in waiting:
            emit(row)
        return
    keys = ", ".join(f"{key} {name.replace('_', ' ')}" for key, name in ANSWERS.items())
    typer.echo(f"{len(waiting)} of {len(rows)} claims wait. Keys: {keys}, Enter skips, q ends.")
    for number, (place, row) in enumerate(waiting, start=1):
        _show_claim(number, len(waiting), row)
        try:
            key = _ask_key(keys)
        except typer.Abort:  # the input ended: what was judged is in the file
            typer.echo()
            break
        if key == "q":
            break
        if key in ANSWERS:
            record(file, place, row["claim"], ANSWERS[key])
    rows = read_rows(file)
    judged = sum(map(is_judged, rows))
    typer.echo(f"{judged} of {len(rows)} claims are judged; measure with `rag-app eval verify {file}`.")


def _ask_key(keys: str) -> str:
    """The first letter of what the person types: a key, q, or "" to skip; anything else is asked again."""
    from rag_app.verify.review import ANSWERS

    while True:
        key = str(typer.prompt("verdict", default="", show_default=False)).strip().casefold()[:1]
        if key in ("", "q", *ANSWERS):
            return key
        typer.echo(f"Keys: {keys}, Enter skips, q ends.")


def _show_claim(number: int, count: int, row: dict[str, Any]) -> None:
    lines = [f"\n--- {number} of {count}" + (f"   question: {row['question']}" if row.get("question") else "")]
    lines.append(f"claim:    {row['claim']}")
    evidence, checks, machine = row.get("evidence") or [], row.get("checks") or [], row.get("machine") or {}
    lines += [f"evidence: {found['text']}   ({found['source']})" for found in evidence]
    if not evidence:
        lines.append("evidence: none was found")
        sources = row.get("sources") or row.get("source") or []
        for name, text in enumerate([sources] if isinstance(sources, str) else sources, start=1):
            lines.append(f"source:   {shorten(str(text), _SHOWN, placeholder=' ...')}   ({name})")
    for check in checks:
        if check["outcome"] == "fail":
            lines.append(
                f"check:    {check['name']}: {check.get('claim_value')!r} beside {check.get('source_value')!r}"
            )
    lines.append(f"machine:  {machine.get('label')} ({machine.get('level')})")
    typer.echo(plain("\n".join(lines)))


def plain(text: str) -> str:
    """The text without control characters: what a claim or a source holds must not steer the terminal."""
    return "".join(char if char in "\n\t" or unicodedata.category(char)[0] != "C" else "\ufffd" for char in text)
