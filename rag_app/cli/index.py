"""`rag-app index` and `rag-app import-faiss`: files into an index, an old index into a new one."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_app.cli.common import ConfigOption, IndexOption, JsonOption, SetOption

if TYPE_CHECKING:
    from rag_app.index import LocalIndex
    from rag_app.ingest import IngestReport
    from rag_app.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""

    @app.command("index")
    def index(
        index: IndexOption,
        paths: Annotated[list[str] | None, typer.Argument(metavar="PATH...", help="Files and folders.")] = None,
        json_: JsonOption = False,
        delete: Annotated[list[str] | None, typer.Option("--delete", metavar="SOURCE...", help="Take out.")] = None,
        sync: Annotated[bool, typer.Option("--sync", help="Take out sources that PATH no longer has.")] = False,
        allow_empty: Annotated[
            bool, typer.Option("--allow-empty", help="With --sync: a folder may have become empty.")
        ] = False,
        rebuild: Annotated[bool, typer.Option("--rebuild", help="Build anew, in place of what is there.")] = False,
        reembed: Annotated[
            bool, typer.Option("--reembed", help="Make all vectors anew, with the embedder set.")
        ] = False,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")] = False,
        config: ConfigOption = None,
        sets: SetOption = None,
    ) -> None:
        """Load, split, embed and index files; what has not changed is skipped."""
        from rag_app.cli.common import emit, load_settings, progress_bar
        from rag_app.ingest import report_json
        from rag_app.types import ConfigError

        settings = load_settings(config, sets)
        files, gone = _sort_out(paths or [], delete or [])
        if not files and not gone and not reembed:
            raise ConfigError("nothing to do: name files or folders to index, or sources to take out with --delete")
        if sync and not files:
            raise ConfigError("--sync needs the files and folders to compare with")
        if allow_empty and not sync:
            raise ConfigError("--allow-empty says what --sync may take out; add --sync, or leave it away")
        with progress_bar() as progress, _room(index):
            report = _run(settings, index, files, gone, sync, allow_empty, rebuild, reembed, dry_run, progress)
        if json_:
            emit({**report_json(report), **({"dry_run": True} if dry_run else {})})
        else:
            _show(report, index)
        if report.failed:
            raise typer.Exit(1)

    @app.command("import-faiss")
    def import_faiss(
        folder: Annotated[str, typer.Argument(metavar="DIR", help="What LangChain's FAISS.save_local wrote.")],
        index: IndexOption,
        name: Annotated[str, typer.Option("--name", help="The name it was saved under.")] = "index",
        json_: JsonOption = False,
        config: ConfigOption = None,
        sets: SetOption = None,
    ) -> None:
        """Read a LangChain community FAISS folder into an index; its pickle may hold Documents and nothing else."""
        from rag_app.cli.common import console, emit, load_settings
        from rag_app.index.import_faiss import import_faiss as run

        settings = load_settings(config, sets)
        with _room(index):
            made = run(folder, index, embedder=settings.embed, settings=settings.index, name=name)
        result = {"documents": made.manifest["counts"]["documents"], "chunks": len(made), "index": index}
        if json_:
            emit(result)
        else:
            console().print(f"{result['chunks']} chunks from {folder} are in {index}", markup=False)


@contextlib.contextmanager
def _room(folder: str) -> Iterator[None]:
    """A full disk as one sentence."""
    from rag_app.types import RagAppError

    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise RagAppError(
            f"no room for the index in {folder} ({error.strerror}): what was committed stays; make room, run it again"
        ) from error


def _sort_out(paths: list[str], delete: list[str]) -> tuple[list[str], list[str]]:
    """(files to index, sources to take out): `--delete a b` gives b as a path, told by there being no such file."""
    from pathlib import Path

    if not delete:
        return paths, []
    files = [path for path in paths if Path(path).exists()]
    return files, [*delete, *(path for path in paths if path not in files)]


def _run(
    settings: Settings,
    folder: str,
    files: list[str],
    gone: list[str],
    sync: bool,
    allow_empty: bool,
    rebuild: bool,
    reembed: bool,
    dry_run: bool,
    progress: Any,
) -> IngestReport:
    import tempfile

    from rag_app.index import LocalIndex
    from rag_app.ingest import remove
    from rag_app.pipeline import add_files
    from rag_app.pipeline import reembed as run_reembed

    with tempfile.TemporaryDirectory() as empty:
        made = run_reembed(settings, folder, progress=progress)[1] if reembed and not dry_run else None
        opened = _open(
            LocalIndex, settings, folder, rebuild=rebuild, must_exist=not files, dry_run=dry_run, empty=empty
        )
        with opened as index:
            report = remove(index, gone, dry_run=dry_run)
            report = report if made is None else made.joined(report)
            if not files:
                return report
            done = add_files(
                settings, index, files, sync=sync, allow_empty=allow_empty, dry_run=dry_run, progress=progress
            )
            return report.joined(done)


def _open(
    kind: type[LocalIndex],
    settings: Settings,
    folder: str,
    *,
    rebuild: bool,
    must_exist: bool,
    dry_run: bool,
    empty: str,
) -> LocalIndex:
    if kind.exists(folder) and not rebuild:
        return kind.open(folder, embedder=settings.embed, settings=settings.index)
    if must_exist:
        return kind.open(folder)  # says that there is none
    if dry_run:
        return kind.create(f"{empty}/index", embedder=settings.embed, settings=settings.index)
    return kind.create(folder, embedder=settings.embed, settings=settings.index, overwrite=rebuild)


def _show(report: IngestReport, folder: str) -> None:
    from rag_app.cli.common import console, warn

    out = console()
    verb = "would be " if report.dry_run else ""
    out.print(
        f"{verb}added {report.added}, updated {report.updated}, deleted {report.deleted}, skipped {report.skipped}; "
        f"{folder} holds {report.documents} documents, {report.chunks} chunks ({report.seconds:.1f} s)",
        markup=False,
        highlight=False,
    )
    sizes = report.checkpoints
    if sizes is not None and sizes.chunks:
        out.print(
            f"mean chunk {sizes.mean_size:.0f}, largest {sizes.largest}; {sizes.cuts_sentence:.1%} cut a sentence",
            markup=False,
            highlight=False,
        )
    if report.dense_recall is not None:
        out.print(f"approximate search finds {report.dense_recall:.1%} of the true neighbors", markup=False)
    for sources in report.equal:
        out.print(f"the same text stands in {', '.join(sources)}", markup=False, highlight=False)
    for failure in report.failed:
        out.print(f"failed: {failure['source']}: {failure['reason']}", markup=False, highlight=False)
    for warning in report.warnings[:20]:
        warn(warning)
    if len(report.warnings) > 20:
        warn(f"... and {len(report.warnings) - 20} more (--json has all)")
