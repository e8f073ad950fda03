"""`rag-app eval retrieval`: the rankings measured on a folder in BEIR layout."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from rag_app.cli.common import ConfigOption, JsonOption, Progress, SetOption

if TYPE_CHECKING:
    from rag_app.evaluate.datasets import Dataset
    from rag_app.evaluate.retrieval import SearchMany
    from rag_app.index import LocalIndex
    from rag_app.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def retrieval(
        dataset: str = typer.Argument(..., metavar="DATASET", help="A folder: corpus.jsonl, queries.jsonl, qrels.tsv."),
        rankings: str = typer.Option("bm25,dense,hybrid", "--rankings", help="Of bm25, dense, hybrid, rerank."),
        split: str | None = typer.Option(None, "--split", help="Take queries.SPLIT.jsonl and qrels.SPLIT.tsv."),
        index: str | None = typer.Option(None, "--index", metavar="DIR", help="Keep the index here, and use it again."),
        limit: int | None = typer.Option(None, "--limit", min=1, help="Only the first N judged queries."),
        config: ConfigOption = None,
        sets: SetOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Measure rankings against judgments, and compare them by paired tests."""
        _run(dataset, rankings, split, index, limit, config, sets, as_json)


def _run(
    folder: str,
    rankings: str,
    split: str | None,
    directory: str | None,
    limit: int | None,
    config: str | None,
    sets: list[str] | None,
    as_json: bool,
) -> None:
    from rag_app.cli.common import emit, load_settings, progress_bar
    from rag_app.cli.search import RANKINGS
    from rag_app.evaluate.datasets import read_dataset
    from rag_app.evaluate.retrieval import evaluate_retrieval
    from rag_app.retrieve.arms import diagnosis
    from rag_app.types import ConfigError

    names = [name.strip() for name in rankings.split(",") if name.strip()]
    unknown = [name for name in names if name not in RANKINGS]
    if unknown or not names:
        raise ConfigError(f"--rankings: {', '.join(unknown) or 'none'} unknown; take some of {', '.join(RANKINGS)}")
    settings = load_settings(config, sets)
    data = read_dataset(folder, split=split, limit=limit)
    with (
        progress_bar() as progress,
        index_folder(directory) as place,
        indexed(settings, data, place, progress) as index,
    ):
        report = evaluate_retrieval(
            data, {name: _search(settings, index, name) for name in names}, progress=progress
        ).to_dict()
        finding = diagnosis(index.notes)
    if finding is not None:
        report["findings"].append(finding)
    if as_json:
        emit(report)
    else:
        _table(report)


@contextlib.contextmanager
def index_folder(directory: str | None) -> Iterator[str]:
    """The folder of the index: the given one, or one that is gone afterwards."""
    import tempfile

    if directory is not None:
        yield directory
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield f"{temporary}/index"


@contextlib.contextmanager
def indexed(settings: Settings, data: Dataset, place: str, progress: Progress) -> Iterator[LocalIndex]:
    """The collection in an index at `place`, its arms measured."""
    from rag_app.ingest import ingest
    from rag_app.pipeline.build import build_splitter, open_or_create
    from rag_app.retrieve.measure import measure_arms, stale

    with open_or_create(settings, place) as index:
        if set(index.sources()) != set(data.corpus):
            ingest(index, data.documents(), build_splitter(settings, index.embedder), sync=True, progress=progress)
        if stale(index.notes, len(index)):
            index.set_notes({**index.notes, "arms": measure_arms(index, progress=progress)})
            index.commit()
        yield index


def _search(settings: Settings, index: LocalIndex, ranking: str) -> SearchMany:
    from rag_app.cli.search import Searcher

    # Chunks, of which several may be of one document: deep enough for recall at 100.
    searcher = Searcher(settings, index, ranking, top_k=300)
    return lambda queries: list(searcher.answer([{"query": query} for query in queries], None))


def _table(report: dict[str, Any]) -> None:
    from rich.table import Table

    from rag_app.cli.common import console

    out = console()
    rankings = report["rankings"]
    measures = list(next(iter(rankings.values())))
    table = Table("ranking", *measures, title=f"{report['dataset']}: {report['queries']} queries")
    for name, values in rankings.items():
        table.add_row(name, *(f"{values[measure]:.4f}" for measure in measures))
    out.print(table)
    for finding in report["findings"]:
        out.print(f"- {finding}", highlight=False, markup=False)
