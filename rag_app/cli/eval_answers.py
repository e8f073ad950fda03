"""`rag-app eval answers`: citation precision and recall, support, abstention, exact match and F1."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_app.cli.common import (
    ConfigOption,
    IndexOption,
    JsonOption,
    SetOption,
    console,
    emit,
    file_lines,
    load_settings,
    progress_bar,
)


def register(app: typer.Typer) -> None:
    """Add the command `eval answers`."""

    @app.command("answers")
    def answers(
        questions: Annotated[Path, typer.Argument(metavar="QA", help="JSON lines with question, answers, answerable.")],
        index: IndexOption,
        config: ConfigOption = None,
        sets: SetOption = None,
        as_json: JsonOption = False,
        limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many questions.")] = None,
    ) -> None:
        """Ask every question of the file and compare with its gold answers."""
        import json

        from rag_app.evaluate.answers import evaluate_answers, read_gold
        from rag_app.pipeline import build_chain, open_index
        from rag_app.types import ConfigError

        try:
            gold = read_gold(json.loads(line) for _, line in file_lines(questions, "the questions"))[:limit]
        except json.JSONDecodeError as error:
            raise ConfigError(f"the questions {str(questions)!r} are not JSON lines: {error}; mend that line") from None
        settings = load_settings(config, sets)
        with open_index(settings, index) as opened, progress_bar() as progress:
            figures = evaluate_answers(build_chain(settings, opened).invoke, gold, progress=progress)
        if as_json:
            emit(figures)
            return
        for name, value in figures.items():
            if name != "risk_coverage":
                console().print(f"{name:>20}  {'-' if value is None else round(value, 3)}", highlight=False)
