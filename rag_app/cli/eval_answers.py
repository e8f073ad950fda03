"""`rag-app eval answers`: citation precision and recall, support, abstention, exact match and F1."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
        rows: Annotated[
            Path | None,
            typer.Option("--rows", metavar="FILE", help="Write a line a question; eval calibrate reads it."),
        ] = None,
        limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many questions.")] = None,
    ) -> None:
        """Ask every question of the file and compare with its gold answers."""
        import json

        from rag_app.evaluate.answers import answer_row, ask_all, measure_answers, read_gold
        from rag_app.pipeline import build_chain, open_index
        from rag_app.types import ConfigError

        try:
            asked = read_gold(json.loads(line) for _, line in file_lines(questions, "the questions"))[:limit]
        except json.JSONDecodeError as error:
            raise ConfigError(f"the questions {str(questions)!r} are not JSON lines: {error}; mend that line") from None
        settings = load_settings(config, sets)
        with open_index(settings, index) as opened, progress_bar() as progress:
            answered = ask_all(build_chain(settings, opened).invoke, asked, progress=progress)
        if rows is not None:
            stages = {"reranker": settings.rerank.kind, "synthesizer": settings.synthesize.kind}
            write_rows(rows, [answer_row(gold, answer) | stages for gold, answer in answered])
        figures = measure_answers(answered)
        if as_json:
            emit(figures)
            return
        for part in ("conflicts", "confidence"):
            figures |= {f"{part}_{name}": value for name, value in figures.pop(part).items()}
        for name, value in figures.items():
            if name != "risk_coverage":
                shown = "-" if value is None else value if isinstance(value, dict) else round(value, 3)
                console().print(f"{name:>22}  {shown}", highlight=False)


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """JSON lines; ConfigError when the file cannot be written."""
    import json

    from rag_app.types import ConfigError

    try:
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--rows {str(path)!r} cannot be written ({error.strerror}); name another file") from None
