"""`rag-app settings`, `info` and `doctor`: what the program is set to, what an index is, and what is wrong."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from rag_app.cli.common import ConfigOption, IndexOption, JsonOption, SetOption, console, emit, load_settings


def register(app: typer.Typer) -> None:
    app.command("settings")(settings_command)
    app.command("info")(info_command)
    app.command("doctor")(doctor_command)


def settings_command(
    config: ConfigOption = None,
    sets: SetOption = None,
    schema: Annotated[bool, typer.Option("--schema", help="The JSON schema of the settings instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """The resolved settings as YAML."""
    settings = load_settings(config, sets)
    if schema:
        emit(settings.json_schema())
    elif as_json:
        emit(settings.to_dict())
    else:
        sys.stdout.write(settings.to_yaml())


def info_command(
    index: IndexOption,
    config: ConfigOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """The pipeline card: chunking, embedding, retrieval, reranking, prompt, verification, with measured values."""
    from rag_app.card import pipeline_card
    from rag_app.pipeline import open_index

    settings = load_settings(config, sets)
    with open_index(settings, index) as opened:
        card = pipeline_card(settings, opened)
    if as_json:
        emit(card)
        return
    from rich.table import Table

    for part, facts in card.items():
        table = Table(title=part, title_justify="left", show_header=False, box=None, padding=(0, 2))
        for name, value in facts.items():
            table.add_row(name, str(value))
        console().print(table)


def doctor_command(
    index: Annotated[str | None, typer.Option("--index", metavar="DIR", help="Check this index too.")] = None,
    config: ConfigOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
) -> int:
    """Checks with a remedy each; exit code 1 when one fails, 3 when the index is missing, damaged or does not match."""
    from rich.markup import escape

    from rag_app.doctor import diagnose

    settings = load_settings(config, sets)
    findings = diagnose(settings, index)
    if as_json:
        emit({"checks": [finding_row(f) for f in findings]})
    else:
        marks = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "fail": "[red]FAIL[/]"}
        for finding in findings:
            remedy = f"  -> {finding.remedy}" if finding.remedy else ""
            console().print(f"{marks[finding.outcome]:<16} {escape(f'{finding.name}: {finding.finding}{remedy}')}")
    if any(finding.unusable for finding in findings):
        return 3
    return 1 if any(finding.outcome == "fail" for finding in findings) else 0


def finding_row(finding: Any) -> dict[str, Any]:
    """A finding as plain values."""
    return {
        "name": finding.name,
        "outcome": finding.outcome,
        "finding": finding.finding,
        "remedy": finding.remedy,
    }
