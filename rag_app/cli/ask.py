"""`rag-app ask` and `rag-app demo`: a question in, a cited and verified answer out."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_app.cli.common import (
    ConfigOption,
    IndexOption,
    JsonOption,
    SetOption,
    console,
    emit,
    filter_from_json,
    load_settings,
    progress_bar,
    stderr_console,
    warn_if_empty,
)

if TYPE_CHECKING:
    from rag_app.answer import Answer
    from rag_app.pipeline import Stages


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)
    app.command("ask")(ask)


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    index: IndexOption,
    config: ConfigOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
    stream: Annotated[bool, typer.Option("--stream", help="One event a line, as JSON.")] = False,
    filter: Annotated[str | None, typer.Option("--filter", metavar="JSON", help="Restrict the evidence.")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the evidence report.")] = None,
) -> None:
    """Answer a question from the index: cited, verified, or honestly abstained."""
    from rag_app.pipeline import build_stages, open_index, stream_answer
    from rag_app.types import ConfigError

    settings = load_settings(config, sets)
    inputs: dict[str, Any] = {"question": question}
    if filter is not None:
        inputs["filter"] = filter_from_json(filter)
    if html is not None and html.is_dir():
        raise ConfigError(f"--html {str(html)!r} is a folder; name a file in it")
    if html is not None and not html.parent.is_dir():
        raise ConfigError(f"--html {str(html)!r}: the folder {str(html.parent)!r} does not exist; make it first")
    with open_index(settings, index) as opened:
        warn_if_empty(opened, index)
        stages = build_stages(settings, opened)
        if stream:
            answer = None
            for event in stream_answer(stages, inputs):
                emit(event)
                answer = getattr(event, "answer", answer)
        elif as_json or not sys.stdout.isatty():
            answer = whole_answer(stages, inputs)
            if as_json:
                emit(answer)
            else:
                from rag_app.cli.render import print_answer

                print_answer(console(), answer)
        else:
            answer = show_stream(stages, inputs)
    if html is not None and answer is not None:
        from rag_app.html import answer_page

        try:
            html.write_text(answer_page(answer), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"--html {str(html)!r} cannot be written ({error.strerror}); name another file") from None
        stderr_console().print(f"wrote {html}")


def whole_answer(stages: Stages, inputs: dict[str, Any]) -> Answer:
    """The answer, all at once."""
    from rag_app.pipeline import chain_of

    return chain_of(stages).invoke(inputs)


def show_stream(stages: Stages, inputs: dict[str, Any]) -> Answer:
    """The answer on a terminal, as it comes; what no longer stands is replaced. Citations and verdicts follow."""
    from rich.markup import escape

    from rag_app.cli.render import print_answer
    from rag_app.pipeline import stream_answer
    from rag_app.synthesize.events import Retraction, Token

    answer: Answer | None = None
    shown = ""
    for event in stream_answer(stages, inputs):
        if isinstance(event, Token):
            sys.stdout.write(event.text)
            sys.stdout.flush()
            shown += event.text
        elif isinstance(event, Retraction) and shown:
            console().print(f"\n[yellow]{'replaced' if event.text else 'withdrawn'}[/]: {escape(event.reason)}")
            shown = ""
        answer = getattr(event, "answer", answer)
    if shown:
        sys.stdout.write("\n")
    assert answer is not None, "a stream ends with its answer"
    print_answer(console(), answer, text=answer.text != shown)
    return answer


def demo(
    config: ConfigOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
    index: Annotated[str | None, typer.Option("--index", metavar="DIR", help="Keep the index here.")] = None,
) -> None:
    """Index the sample corpus, ask three questions, show cited and verified answers."""
    settings = load_settings(config, sets)
    if index is not None:
        run_demo(settings, index, as_json)
        return
    with tempfile.TemporaryDirectory() as folder:
        run_demo(settings, str(Path(folder) / "sample.index"), as_json)


def run_demo(settings: Any, directory: str, as_json: bool) -> None:
    """The demo over an index at `directory`."""
    from rag_app.cli.render import print_answer
    from rag_app.pipeline import build_index, build_stages
    from rag_app.sample import DEMO_QUESTIONS, documents_path

    out = console()
    with progress_bar() as progress:
        opened, report = build_index(settings, [documents_path()], directory, progress=progress)
    with opened:
        if not as_json:
            out.print(f"Indexed {report.documents} documents in {report.chunks} chunks, {report.seconds:.1f} s.")
        stages = build_stages(settings, opened)
        for question in DEMO_QUESTIONS:
            answer = whole_answer(stages, {"question": question})
            if as_json:
                emit(answer)
            else:
                out.print(f"\n[bold]{question}[/]")
                print_answer(out, answer)
    if not as_json and settings.rerank.kind != "cross-encoder":
        out.print(
            f"\nThis ran offline: {settings.rerank.kind} reranking, {settings.synthesize.kind} answers. "
            "A cross-encoder and a chat model are one flag away: --config quality"
        )
