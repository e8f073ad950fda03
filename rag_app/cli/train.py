"""`rag-app train`: models fitted on a user's own judgments."""

from __future__ import annotations

from typing import Any

import typer

from rag_app.cli.common import ConfigOption, JsonOption, SetOption


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""

    @app.command()
    def reranker(
        dataset: str = typer.Argument(..., metavar="DATASET", help="A folder: corpus.jsonl, queries.jsonl, qrels.tsv."),
        out: str = typer.Option(..., "--out", metavar="DIR", help="Where the model goes; a new or empty folder."),
        split: str | None = typer.Option(None, "--split", help="Take queries.SPLIT.jsonl and qrels.SPLIT.tsv."),
        index: str | None = typer.Option(None, "--index", metavar="DIR", help="Keep the index here, and use it again."),
        base: str = typer.Option("packaged", "--base", help="The encoder to start from: a name, a folder, packaged."),
        epochs: int = typer.Option(2, "--epochs", min=1, help="How often each group is learned from."),
        negatives: int = typer.Option(5, "--negatives", min=1, help="Hard negatives for each relevant document."),
        max_tokens: int = typer.Option(200, "--max-tokens", min=16, help="Tokens read of query and passage together."),
        learning_rate: float = typer.Option(5e-5, "--learning-rate", min=0.0, help="Of AdamW, at its highest."),
        candidates: int = typer.Option(20, "--candidates", min=2, help="How many of the fused ranking it reorders."),
        held_out: float = typer.Option(0.2, "--held-out", min=0.01, max=0.9, help="Share of the queries held out."),
        limit: int | None = typer.Option(None, "--limit", min=4, help="Only the first N judged queries."),
        seed: int = typer.Option(0, "--seed", help="Of the held-out part, the negatives and the order."),
        config: ConfigOption = None,
        sets: SetOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Fit a cross-encoder on judgments, and say on a part held out whether it helps."""
        options = {
            "base": base,
            "epochs": epochs,
            "negatives": negatives,
            "max_tokens": max_tokens,
            "learning_rate": learning_rate,
            "candidates": candidates,
            "held_out": held_out,
            "seed": seed,
        }
        _run(dataset, out, split, index, limit, config, sets, as_json, options)


def _run(
    folder: str,
    out: str,
    split: str | None,
    directory: str | None,
    limit: int | None,
    config: str | None,
    sets: list[str] | None,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    from pathlib import Path

    from rag_app.backend.processor import has_bf16
    from rag_app.cli.common import emit, load_settings, progress_bar
    from rag_app.cli.eval_retrieval import index_folder, indexed
    from rag_app.cli.search import make_retriever
    from rag_app.evaluate.datasets import read_dataset
    from rag_app.train import train_reranker
    from rag_app.types import ConfigError

    if Path(out).exists() and (not Path(out).is_dir() or any(Path(out).iterdir())):
        raise ConfigError(f"--out: {out} is not empty; name a new folder")
    settings = load_settings(config, sets)
    data = read_dataset(folder, split=split, limit=limit)
    with (
        progress_bar() as progress,
        index_folder(directory) as place,
        indexed(settings, data, place, progress) as built,
    ):
        retriever = make_retriever(settings, built, "hybrid")
        report = train_reranker(retriever, data, out, bf16=has_bf16(), progress=progress, **options).to_dict()
    if as_json:
        emit(report)
    else:
        _show(report)


def _show(report: dict[str, Any]) -> None:
    from rich.table import Table

    from rag_app.cli.common import console

    out = console()
    table = Table("order", "nDCG@10", "95 % interval", title=f"{report['held_out']} queries held out")
    for name, value in report["rankings"].items():
        low, high = report["intervals"][name]
        table.add_row(name, f"{value:.4f}", f"{low:.4f} to {high:.4f}")
    out.print(table)
    out.print(report["finding"], highlight=False, markup=False)
    out.print(
        f"use it: --set rerank.kind=cross-encoder --set rerank.model={report['model']} "
        f"(blend {report['blend']:g} stands in its folder)",
        highlight=False,
        markup=False,
    )
