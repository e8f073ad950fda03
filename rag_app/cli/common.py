"""What all commands share: options, resolved settings, JSON on standard output, progress on standard error."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from rag_app.settings import Settings

Progress = Callable[[int, int, str], None]

# JSON leaves these as they are, and many readers (`str.splitlines`, JavaScript of old) end a line at them.
_LINE_ENDS = {chr(code): f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}

ConfigOption = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE|PRESET", help="A YAML file, or a preset: default, quality, openai."),
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="STAGE.KEY=VALUE", help="Any setting; may be given several times.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON on standard output, nothing else.")]
IndexOption = Annotated[str, typer.Option("--index", metavar="DIR", help="The folder of the index.")]


def load_settings(config: str | None, sets: list[str] | None) -> Settings:
    """The resolved settings: defaults, then the preset or file, then the environment, then `--set`."""
    from rag_app.settings import Settings

    return Settings.resolve(config, sets or [])


def emit(value: Any) -> None:
    """One line of JSON on standard output."""
    from rag_app.types import to_json

    plain = to_json(value)
    line = json.dumps(plain, ensure_ascii=False, allow_nan=False)
    for char, escaped in _LINE_ENDS.items():  # `replace` looks for one character far faster than `translate` for some
        line = line.replace(char, escaped)
    try:
        line.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # a terminal that is not UTF-8, or half a character: JSON can say all in ASCII
        line = json.dumps(plain, allow_nan=False)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def stdin_lines() -> Iterator[tuple[int, str]]:
    """`(number, line)` of the lines of standard input that are not blank, as UTF-8 whatever the terminal speaks.

    Bytes that are no UTF-8 become U+FFFD: they can spoil their own line only.
    """
    raw = getattr(sys.stdin, "buffer", None)
    lines: Iterator[Any] = iter(() if sys.stdin is None else sys.stdin if raw is None else raw)
    for number, line in enumerate(lines, start=1):
        text = line.decode("utf-8", "replace") if isinstance(line, bytes) else str(line)
        if text.lstrip("\ufeff").strip():
            yield number, text.lstrip("\ufeff")


def file_lines(path: str | Path, what: str) -> Iterator[tuple[int, str]]:
    """`(number, line)` of the lines of a UTF-8 file that are not blank; ConfigError when it cannot be read."""
    from rag_app.jsonable import lines_of
    from rag_app.types import ConfigError

    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{what} {str(path)!r} cannot be read ({reason}); name a UTF-8 file of JSON lines") from None
    yield from lines_of(text)


def filter_from_json(text: str) -> dict[str, Any]:
    """The filter written as JSON on the command line, checked; ConfigError with the place of the fault."""
    from rag_app.filters import parse_filter
    from rag_app.types import ConfigError

    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise ConfigError(f'--filter {shown!r} is not JSON ({error}); write \'{{"source": "a.md"}}\'') from None
    if not isinstance(tree, dict):
        raise ConfigError(f'--filter: a {type(tree).__name__} is no filter; write \'{{"source": "a.md"}}\'')
    parse_filter(tree)
    return tree


def console() -> Console:
    """The console for people: standard output."""
    from rich.console import Console

    return Console()


def stderr_console() -> Console:
    """The console for logs and progress: standard error."""
    from rich.console import Console

    return Console(stderr=True)


def warn(message: object) -> None:
    """A warning as one line on standard error."""
    sys.stderr.write(f"warning: {message}\n")


def warn_if_empty(index: Any, directory: str) -> None:
    """Say that an index without chunks can find nothing."""
    if not len(index):
        warn(f"the index {directory} is empty; fill it with `rag-app index PATH --index {directory}`")


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """A `progress(done, total, what)` callback drawn on standard error; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total, what: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=stderr_console(), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def update(done: int, total: int, what: str) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total or None)
            bars.update(tasks[what], completed=done, total=total or None)

        yield update
