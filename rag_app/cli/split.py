"""`rag-app split`: the chunks of files, as they would be indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from rag_app.cli.common import ConfigOption, JsonOption, SetOption

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from rag_app.settings import Settings
    from rag_app.split import SpanSplitter

KINDS = ("recursive", "semantic", "sentence", "parent", "markdown", "html", "code", "page", "auto")


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def split(
        paths: list[str] = typer.Argument(..., metavar="PATH...", help="Files and folders."),
        splitter: str | None = typer.Option(
            None, "--splitter", metavar="KIND", help=f"One of {', '.join(KINDS)}; else the settings' own."
        ),
        config: ConfigOption = None,
        sets: SetOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Print the chunks of files: their places in the text that `load` prints, and what they say."""
        raise typer.Exit(_run(paths, splitter, config, sets, as_json))


def _run(paths: list[str], kind: str | None, config: str | None, sets: list[str] | None, as_json: bool) -> int:
    from rag_app.cli.common import emit, progress_bar, warn
    from rag_app.types import LoadFailure

    settings = settings_with(kind, config, sets)
    splitter = make_splitter(settings)
    failed = 0
    rows: list[dict[str, Any]] = []
    with progress_bar() as progress:
        for loaded in settings.load.load_all(paths, progress=progress):
            if isinstance(loaded, LoadFailure):
                failed += 1
                if as_json:
                    emit({"source": loaded.source, "error": loaded.error, "reason": loaded.reason})
                else:
                    warn(f"{loaded.source}: {loaded.reason}")
                continue
            for chunk in splitter.chunks(loaded):
                row = chunk_row(chunk)
                if as_json:
                    emit(row)
                else:
                    rows.append(row)
    if not as_json:
        _table(rows)
    return 1 if failed else 0


def settings_with(kind: str | None, config: str | None, sets: list[str] | None) -> Settings:
    """The settings whose splitter is of `kind`; `--set split.chunk_size=...` then means a field of that kind."""
    from rag_app.cli.common import load_settings
    from rag_app.types import ConfigError

    if kind is None:
        return load_settings(config, sets)
    if kind not in KINDS:
        raise ConfigError(f"--splitter: {kind!r} is not known; use one of {', '.join(KINDS)}")
    return load_settings(config, [f"split.kind={kind}", *(sets or [])])


def make_splitter(settings: Settings) -> SpanSplitter:
    """The settings' splitter, with the embedder as its ruler where it wants one."""
    from rag_app.cli.common import warn
    from rag_app.types import RagAppError

    splitter: SpanSplitter = settings.split
    if splitter.uses_tokens:
        embedder = settings.embed
        try:
            embedder.count_tokens("x")
        except RagAppError as error:
            if splitter.needs_embedder:
                raise
            warn(f"chunks are not checked against the embedder's window: {error}")
            return splitter
        splitter = splitter.bind(
            embeddings=embedder, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens
        )
    return splitter


def chunk_row(chunk: Document) -> dict[str, Any]:
    """What the command line promises of a chunk."""
    metadata = chunk.metadata
    row = {
        "id": chunk.id,
        "source": metadata.get("source", ""),
        "start": metadata["start_index"],
        "end": metadata["end_index"],
        "page": metadata.get("page"),
        "section_path": metadata.get("section_path", []),
        "text": chunk.page_content,
    }
    for name in ("parent", "window", "page_label", "embed_text"):
        if name in metadata:
            row[name] = metadata[name]
    return row


def _table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from rag_app.cli.common import console

    table = Table("source", "place", "characters", "section", "text", title=f"{len(rows)} chunks")
    for row in rows:
        text = " ".join(row["text"].split())
        table.add_row(
            row["source"],
            f"{row['start']}-{row['end']}",
            str(row["end"] - row["start"]),
            " > ".join(row["section_path"]),
            text if len(text) <= 60 else text[:57] + "...",
        )
    console().print(table)
