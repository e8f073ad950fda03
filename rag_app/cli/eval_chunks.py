"""`rag-app eval chunks`: sizes against their target, and recall, precision, IoU against gold spans."""

from __future__ import annotations

from typing import Any

import typer

from rag_app.cli.common import ConfigOption, JsonOption, SetOption


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command("chunks")
    def chunks(
        corpus: str = typer.Argument(..., help="A folder with corpus.jsonl and qa.jsonl, or any files to split."),
        splitter: str | None = typer.Option(None, "--splitter", metavar="KIND", help="Else the settings' own."),
        top_k: int = typer.Option(5, "--top-k", min=1, help="Chunks that are read for a question."),
        read: str | None = typer.Option(None, "--read", help="Read this span instead of the chunk: parent or window."),
        config: ConfigOption = None,
        sets: SetOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Checkpoints of the chunks' sizes; with gold spans, what five chunks hold of the evidence."""
        report = _measure(corpus, splitter, top_k, read, config, sets)
        _show(report, as_json)
        raise typer.Exit(1 if report["failed"] else 0)


def _measure(
    corpus: str, kind: str | None, top_k: int, read: str | None, config: str | None, sets: list[str] | None
) -> dict[str, Any]:
    from pathlib import Path

    from rag_app.cli.common import progress_bar
    from rag_app.cli.split import make_splitter, settings_with
    from rag_app.evaluate.chunks import load_corpus, score_chunks
    from rag_app.split import CheckpointCollector
    from rag_app.types import ConfigError, LoadFailure, to_json

    if read not in (None, "parent", "window"):
        raise ConfigError(f"--read: {read!r} is not known; use parent or window")
    settings = settings_with(kind, config, sets)
    splitter = make_splitter(settings)
    questions: list[Any] = []
    failed: list[dict[str, str]] = []
    collector, chunks = CheckpointCollector(), list[Any]()
    with progress_bar() as progress:
        if (Path(corpus) / "corpus.jsonl").is_file():
            documents, questions = load_corpus(corpus)
        else:
            loaded = list(settings.load.load_all([corpus], progress=progress))
            documents = [item for item in loaded if not isinstance(item, LoadFailure)]
            failed = [
                {"source": item.source, "reason": item.reason} for item in loaded if isinstance(item, LoadFailure)
            ]
        for done, document in enumerate(documents, start=1):
            pieces = splitter.chunks(document)
            collector.add(document, pieces, splitter)
            chunks += pieces
            progress(done, len(documents), "split")
        report: dict[str, Any] = {
            "splitter": splitter.model_dump(mode="json"),
            "checkpoints": _plain(collector.report()),
        }
        if questions:
            scores = score_chunks(chunks, questions, settings.embed, top_k=top_k, read=read, progress=progress)
            report["scores"] = to_json(scores)
    return {**report, "failed": failed}


def _plain(checkpoints: Any) -> dict[str, Any]:
    from rag_app.types import to_json

    return {**to_json(checkpoints), "passed": checkpoints.passed}


def _show(report: dict[str, Any], as_json: bool) -> None:
    from rag_app.cli.common import console, emit, warn

    if as_json:
        emit(report)
        return
    from rich.table import Table

    table = Table("measure", "value")
    for name, value in {**report["checkpoints"], **report.get("scores", {})}.items():
        if name != "warnings":
            table.add_row(name, f"{value:.3f}" if isinstance(value, float) else str(value))
    console().print(table)
    for message in report["checkpoints"]["warnings"]:
        warn(message)
    for failure in report["failed"]:
        warn(f"{failure['source']}: {failure['reason']}")
