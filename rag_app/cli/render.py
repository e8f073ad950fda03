"""An Answer for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from rag_app.answer import Answer

_COLORS = {
    "supported": "green",
    "partially_supported": "yellow",
    "contradicted": "red",
    "not_found": "red",
    "not_checkable": "cyan",
}
_QUOTE_WIDTH = 300


def print_answer(console: Console, answer: Answer, *, text: bool = True) -> None:
    """Text, then sources with their quotes, then a line per verdict; `text=False` when it was streamed already."""
    from rich.markup import escape
    from rich.padding import Padding

    if text:
        console.print(Padding(escape(answer.text), (0, 0, 0, 2)))
    sure = "" if answer.confidence is None else f"[dim]confidence[/] {answer.confidence:.2f}"
    if answer.abstained:
        console.print(f"  [yellow]abstained[/]: {answer.abstention_reason}{f' ({sure})' if sure else ''}")
    elif sure:
        console.print(f"  {sure}")
    for citation in answer.citations:
        console.print(f"  [bold]\\[{citation.marker}][/] [cyan]{escape(place(citation))}[/]")
        quote = " ".join(citation.quote.split())
        quote = quote if len(quote) <= _QUOTE_WIDTH else quote[: _QUOTE_WIDTH - 1] + "…"
        console.print(Padding(f"[dim]“{escape(quote)}”[/]", (0, 0, 0, 6)))
    if answer.report.get("withdrawn"):
        console.print("  [dim]what was withdrawn:[/]")
    for verdict in answer.verdicts:
        color = _COLORS.get(verdict.label, "white")
        console.print(
            f"  [{color}]{verdict.label}[/] {verdict.score:.2f} [dim]({verdict.level})[/] "
            f"{escape(brief(verdict.claim.text))}"
        )
        for check in verdict.checks:
            if check.outcome == "fail":
                values = f"claim {check.claim_value!r}, source {check.source_value!r}"
                console.print(f"      [red]{check.name}[/]: {escape(values)}")
    for warning in answer.warnings:
        console.print(f"  [yellow]warning[/]: {escape(warning)}")


def place(citation: object) -> str:
    """`handbook.md, page 3, Benefits > Vacation`."""
    source, page = getattr(citation, "source", ""), getattr(citation, "page", None)
    path = getattr(citation, "section_path", ())
    parts = [str(source), *([f"page {page}"] if page else []), *([" > ".join(path)] if path else [])]
    return ", ".join(parts)


def brief(text: str, width: int = 100) -> str:
    """One line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"
