"""The command line. Each command is in a file that registers it; the heavy imports stay inside the commands."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import sys
import warnings
from collections.abc import Iterator, Sequence

import typer

from rag_app.cli.common import warn

# The module of each command; those of `eval` and `train` are under their names.
_MODULES = {
    **{"demo": "ask", "ask": "ask", "load": "load", "split": "split", "index": "index", "import-faiss": "index"},
    **{"search": "search", "cite": "cite", "verify": "verify", "review": "verify", "models": "models"},
    **{"settings": "info", "info": "info", "doctor": "info"},
}
_GROUPS = {
    "eval": (
        "Measure retrieval, verification, chunks and answers.",
        ("eval_retrieval", "eval_chunks", "eval_verify", "eval_answers"),
    ),
    "train": ("Fit models on your own judgments.", ("train",)),
}


def program(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command line: with the command that the arguments begin with, or with all when they begin with none."""
    first = arguments[0] if arguments and arguments[0] in (*_MODULES, *_GROUPS) else None
    made = typer.Typer(
        name="rag-app",
        help="Questions answered from documents, with citations that can be checked.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    made.callback()(_root)
    for module in dict.fromkeys(module for command, module in _MODULES.items() if first in (None, command)):
        importlib.import_module(f"rag_app.cli.{module}").register(made)
    for name, (purpose, modules) in _GROUPS.items():
        if first in (None, name):
            group = typer.Typer(help=purpose, no_args_is_help=True)
            for module in modules:
                importlib.import_module(f"rag_app.cli.{module}").register(group)
            made.add_typer(group, name=name)
    return made


def _root(debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error.")) -> None:
    """Questions answered from documents, with citations that can be checked."""


def exit_code(error: Exception) -> int:
    """0 done, 1 something in the input failed, 2 usage or configuration, 3 index missing, damaged or mismatched."""
    from rag_app.types import (
        ConfigError,
        IndexDamagedError,
        IndexLockedError,
        IndexMismatchError,
        IndexMissingError,
        MissingExtraError,
    )

    if isinstance(error, IndexMissingError | IndexDamagedError | IndexMismatchError | IndexLockedError):
        return 3
    if isinstance(error, ConfigError | MissingExtraError):
        return 2
    return 1


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors of the package become one sentence and an exit code.

    Without arguments this is the program of a process of its own, with the arguments that the process has.
    """
    if arguments is None:
        with few_collections():
            main(sys.argv[1:])
        return
    debug = "--debug" in arguments
    # `--debug` may stand anywhere: a person adds it at the end of the line that failed.
    arguments = [argument for argument in arguments if argument != "--debug"]
    for stream in (sys.stdout, sys.stderr):  # what the terminal cannot show must not end the program
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():  # puts `showwarning` back for a caller that goes on
            warnings.showwarning = show_warning
            code = program(arguments)(arguments, standalone_mode=False)
    except typer.Abort:
        typer.echo("interrupted: what was committed stays; run it again to go on", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        sys.exit(report(error, as_json="--json" in arguments or "--stream" in arguments))
    sys.exit(code if isinstance(code, int) else 0)


@contextlib.contextmanager
def few_collections() -> Iterator[None]:
    """For a process that ends with the block: what it imported is garbage to nobody, and is not looked through for it.

    Of a search's second, collections while modules are imported take .05 to .1, and the last one, at the end, .15.
    """
    gc.set_threshold(100_000)
    try:
        yield
    finally:
        gc.freeze()


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as one line on standard error, without the place in the code."""
    warn(message)


def report(error: Exception, *, as_json: bool = False) -> int:
    """What went wrong as one sentence on standard error; returns the exit code.

    With `as_json`, exit code 1 comes with a line of JSON: the command ran, and its reader is told what failed.
    """
    if hasattr(error, "show") and hasattr(error, "exit_code"):  # a usage error; typer brings its own copy of click
        error.show()
        return 2
    from rag_app.types import RagAppError

    if isinstance(error, RagAppError):
        sentence = str(error)
    else:
        said = " ".join(str(error).split()) or "no message"
        sentence = f"{type(error).__name__}: {said}; run it again with --debug for the traceback"
    sys.stderr.write(f"error: {sentence}\n")
    code = exit_code(error)
    if as_json and code == 1 and not isinstance(error, OSError):  # of an OSError, standard output may be the cause
        from rag_app.cli.common import emit

        emit({"error": type(error).__name__, "reason": sentence})
    return code
