"""`rag-app cite`: what happens to a model's raw text, without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import typer

from rag_app.cli.common import JsonOption, console, emit, stdin_lines


def register(app: typer.Typer) -> None:
    """Add the command `cite`."""

    @app.command()
    def cite(as_json: JsonOption = False) -> None:
        """Read drafts from standard input, one JSON object a line: {"id", "text", "chunks": ["..."]}.

        For each line in, one line out: the cleaned text, its citations with exact quotes, phantoms and claims.
        `chunk` counts from 0 (`chunks[chunk]`), `span` of a citation refers to that chunk, `span` of a claim to the
        cleaned text. Exit code 1 when a line could not be read.
        """
        failed = False
        for number, line in stdin_lines():
            result = _cite_line(line, number)
            failed = failed or "error" in result
            if as_json:
                emit(result)
            else:
                _show(result)
        if failed:
            raise typer.Exit(1)


def _cite_line(line: str, number: int) -> dict[str, Any]:
    try:
        draft = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"line {number} is not JSON: {error}"}
    if not isinstance(draft, Mapping):
        return {"id": None, "error": f"line {number} is no JSON object"}
    text, chunks = draft.get("text"), draft.get("chunks", [])
    if not isinstance(text, str):
        return {"id": draft.get("id"), "error": f"line {number}: 'text' must be a string"}
    if not isinstance(chunks, list) or not all(isinstance(chunk, str | Mapping) for chunk in chunks):
        return {"id": draft.get("id"), "error": f"line {number}: 'chunks' must be a list of strings"}
    return {"id": draft.get("id"), **cite_text(text, [_chunk_text(chunk) for chunk in chunks])}


def _chunk_text(chunk: str | Mapping[str, Any]) -> str:
    return chunk if isinstance(chunk, str) else str(chunk.get("text", chunk.get("page_content", "")))


def cite_text(text: str, chunks: list[str]) -> dict[str, Any]:
    """The outcome for one draft as plain values, as the command prints it."""
    from langchain_core.documents import Document

    from rag_app.cite import bind, claims, parse_markers, resolve

    evidence = [Document(chunk, id=str(place)) for place, chunk in enumerate(chunks)]
    parsed = parse_markers(text, len(evidence))
    bound = bind(parsed)
    return {
        "text": parsed.text,
        "citations": [
            {"marker": c.marker, "chunk": c.marker - 1, "quote": c.quote, "span": list(c.span)}
            for c in resolve(bound, evidence)
        ],
        "phantoms": list(parsed.phantoms),
        "claims": [
            {"text": claim.text, "span": list(claim.span), "citations": list(claim.citations)}
            for claim in claims(bound)
        ],
    }


def _show(result: dict[str, Any]) -> None:
    from rich.markup import escape

    out = console()
    if "error" in result:
        out.print(f"[red]{escape(result['error'])}[/red]")
        return
    out.print(escape(result["text"]), highlight=False)
    for citation in result["citations"]:
        out.print(f"  {escape('[' + str(citation['marker']) + ']')} {escape(citation['quote'])}", highlight=False)
    if result["phantoms"]:
        out.print(f"  no such source: {', '.join(result['phantoms'])}", highlight=False)
