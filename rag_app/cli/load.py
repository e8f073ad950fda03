"""`rag-app load`: what the files say, one line a document, one line a failure."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from rag_app.cli.common import ConfigOption, JsonOption, SetOption


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command("load")
    def load(
        paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and folders.")],
        json_: JsonOption = False,
        config: ConfigOption = None,
        sets: SetOption = None,
    ) -> None:
        """Read files and folders; print each document's text and metadata, and what failed and why."""
        from rag_app.cli.common import emit, load_settings, progress_bar
        from rag_app.load import Loader
        from rag_app.types import LoadFailure

        told = config or sets or any(name.upper().startswith("RAG_APP_LOAD") for name in os.environ)
        loader = load_settings(config, sets).load if told else Loader()  # the settings import every stage
        failed = 0
        rows: list[tuple[str, ...]] = []
        texts: dict[str, list[str]] = {}
        with progress_bar() as progress:
            for item in loader.load_all(paths, progress):
                if isinstance(item, LoadFailure):
                    failed += 1
                    rows.append((item.source, "", "", f"{item.error}: {item.reason}"))
                    if json_:
                        emit(item)
                    continue
                facts = item.metadata
                texts.setdefault(item.page_content, []).append(facts["source"])
                pages = facts.get("page_count")
                rows.append(
                    (facts["source"], facts["document_type"], f"{len(item.page_content):,}", str(facts["title"]))
                )
                if json_:
                    emit(
                        {
                            "source": facts["source"],
                            "doc_id": item.id,
                            "page_count": pages,
                            "characters": len(item.page_content),
                            "document_type": facts["document_type"],
                            "metadata": facts,
                            "text": item.page_content,
                        }
                    )
        if not json_:
            _show(rows, failed, [sources for sources in texts.values() if len(sources) > 1])
        if failed:
            raise typer.Exit(1)


def _show(rows: list[tuple[str, ...]], failed: int, equal: list[list[str]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from rag_app.cli.common import console

    table = Table("source", "type", "characters", "title, or what went wrong")
    for row in rows:
        table.add_row(*map(escape, row))
    out = console()
    out.print(table)
    out.print(f"{len(rows) - failed} documents, {failed} failures")
    for sources in equal:
        out.print(f"equal text: {', '.join(sources)}", markup=False)
