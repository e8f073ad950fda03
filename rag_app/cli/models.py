"""`rag-app models`: embedding and reranking models by use."""

from __future__ import annotations

import typer

from rag_app.cli.common import JsonOption


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def models(
        use: str | None = typer.Option(
            None, "--use", help="general, code, multilingual, scientific, legal, air-gapped, or a document type."
        ),
        budget: str = typer.Option("high", "--budget", help="With --use: none, low or high."),
        latency: str = typer.Option("any", "--latency", help="With --use: low or any."),
        as_json: JsonOption = False,
    ) -> None:
        """List embedding and reranking models: dimensions, window, license, local or API; or recommend some."""
        _run(use, budget, latency, as_json)


def _run(use: str | None, budget: str, latency: str, as_json: bool) -> None:
    from typing import Any, cast

    from rag_app.cli.common import console, emit
    from rag_app.embed.catalog import MODELS, recommend

    chosen = list(MODELS) if use is None else recommend(use, cast(Any, budget), cast(Any, latency))
    if as_json:
        for model in chosen:
            emit(model)
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_lines=True)
    table.add_column("model", overflow="fold", min_width=42)
    table.add_column("facts", overflow="fold")
    table.add_column("for", overflow="fold")
    for model in chosen:
        size = f"{model.dimensions} dimensions" if model.dimensions else "scores pairs"
        facts = [model.role, size, f"window {model.window}", model.license, f"cost {model.cost}", model.where]
        prefixes = " / ".join(repr(prefix) for prefix in (model.query_prefix, model.passage_prefix) if prefix)
        notes = [", ".join(model.uses), model.note, f"prefixes {prefixes}" if prefixes else ""]
        table.add_row(escape(model.name), escape(", ".join(facts)), escape("; ".join(filter(None, notes))))
    console().print(table)
