"""`rag-app eval verify`: verdicts against human labels, beside the trivial baselines."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_app.cli.common import ConfigOption, JsonOption, SetOption, emit, file_lines, progress_bar


def register(app: typer.Typer) -> None:
    app.command("verify")(eval_verify)
    app.command("calibrate")(eval_calibrate)


def eval_verify(
    claims: Annotated[Path, typer.Argument(help="claims.jsonl with claim, source(s) and label (1 supported).")],
    as_json: JsonOption = False,
    level: Annotated[str | None, typer.Option("--level", help="lexical, entailment or llm.")] = None,
    config: ConfigOption = None,
    sets: SetOption = None,
) -> None:
    """Balanced accuracy, AUROC, precision and recall of "unsupported", with bootstrap intervals and baselines."""
    from rag_app.cli.verify import build_verifier
    from rag_app.evaluate.claims import baseline_report, claim_report
    from rag_app.verify.baselines import idf_coverage, rouge_1

    rows = read_labeled(claims)
    verifier = build_verifier(config, sets, level)
    verdicts, started = [], time.perf_counter()
    with progress_bar() as progress:
        for number, (claim, sources, _) in enumerate(rows, start=1):
            verdicts.append(verifier.verify_claim(claim, sources))
            progress(number, len(rows), "claims")
    seconds = time.perf_counter() - started
    labels = [label for _, _, label in rows]
    texts = [(claim, "\n\n".join(sources)) for claim, sources, _ in rows]
    result = {
        "claims": len(rows),
        "supported": sum(labels),
        "level": verifier.level,
        **claim_report(labels, [v.label for v in verdicts], [v.score for v in verdicts]),
        "baselines": baseline_report(
            labels, {"ROUGE-1": [rouge_1(*t) for t in texts], "IDF coverage": [idf_coverage(*t) for t in texts]}
        ),
        "labels": {name: sum(v.label == name for v in verdicts) for name in sorted({v.label for v in verdicts})},
        "ms_per_claim": round(1000 * seconds / max(1, len(rows)), 2),
    }
    if as_json:
        emit(result)
    else:
        _show(result)


def eval_calibrate(
    claims: Annotated[
        Path,
        typer.Argument(help="Judged claims, a reviewed review file, or the rows of `eval answers --rows`."),
    ],
    as_json: JsonOption = False,
    level: Annotated[str | None, typer.Option("--level", help="lexical, entailment or llm.")] = None,
    config: ConfigOption = None,
    sets: SetOption = None,
) -> None:
    """The threshold that fits a small labeled set: of support for claims, of answering for rows of `eval answers`."""
    from rag_app.cli.verify import build_verifier
    from rag_app.evaluate.claims import calibration_report
    from rag_app.types import ConfigError

    if (answered := answer_rows(claims)) is not None:
        calibrate_answering(answered, as_json)
        return
    rows = read_labeled(claims)
    verifier = build_verifier(config, sets, level)
    verdicts = [verifier.verify_claim(claim, sources) for claim, sources, _ in rows]
    try:
        labels = [label for _, _, label in rows]
        report = calibration_report(labels, [v.label for v in verdicts], [v.score for v in verdicts])
    except ValueError as error:
        raise ConfigError(f"{claims}: {error}; give claims of both kinds, supported and not") from None
    name = "entailment_threshold" if verifier.level == "entailment" else "supported_threshold"
    result = {"level": verifier.level, **report, "setting": f"verify.{name}={report['threshold']}"}
    if as_json:
        emit(result)
    else:
        _show_calibration(result)


def answer_rows(path: Path) -> list[dict[str, Any]] | None:
    """The rows of a file that `eval answers --rows` wrote; None when it is another file."""
    rows = []
    for _, line in file_lines(path, "the rows"):
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            return None
        if not isinstance(row, dict) or not {"answerable", "confidence"} <= row.keys():
            return None
        rows.append(row)
    return rows or None


def calibrate_answering(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print the threshold for each reranker and synthesizer, as `--set` lines."""
    from rag_app.evaluate.answers import calibrate_answers

    found = calibrate_answers(rows)
    if as_json:
        emit({"rerankers": found})
        return
    for one in found:
        typer.echo(" ".join(f"--set {setting}" for setting in one["settings"]))
        low, high = one["interval"]
        typer.echo(
            f"  # {one['questions']} questions, {one['answerable']} answerable; [{low}, {high}]: balanced accuracy "
            f"{one['balanced_accuracy']}, on other questions about {one['held_out']}"
        )


def _show_calibration(result: dict[str, Any]) -> None:
    from rich.table import Table

    from rag_app.cli.common import console

    table = Table("coverage", "risk", "threshold", title=f"{result['claims']} claims, level {result['level']}")
    for step in result["risk_coverage"]:
        table.add_row(f"{step.coverage:.2f}", f"{step.risk:.2f}", f"{step.threshold:.2f}")
    console().print(table)
    low, high = result["interval"]
    console().print(
        f"threshold {result['threshold']} [{low}, {high}]: balanced accuracy {result['balanced_accuracy']}, "
        f"on other claims {_about(result['held_out'])}, as set now {result['now']}; "
        f"use it with --set {result['setting']}"
    )


def _about(held_out: float | None) -> str:
    return "unknown (too few to leave some out)" if held_out is None else f"about {held_out}"


def read_labeled(path: Path) -> list[tuple[str, list[str], int]]:
    """(claim, sources, label) of each line, or of each of its "claims"; ConfigError names the line that lacks one.

    Claims that wait for a person, or that a person found not to be checkable, are left out.
    """
    from rag_app.cli.verify import read_row
    from rag_app.types import LABELS, ConfigError

    rows = []
    for number, line in file_lines(path, "the claims"):
        for one in _claims_of(line):
            try:
                _, claim, sources = read_row(one, number)
            except ValueError as error:
                raise ConfigError(f"{path}: {error}") from None
            label = json.loads(one).get("label")
            if label is None and "machine" in one:
                continue  # a review file, where this claim still waits for a person
            if label == "not_checkable":
                continue  # a person found that nothing can be said
            if label not in (0, 1, *LABELS):
                raise ConfigError(
                    f'{path}: line {number} has no "label" (1 supported, 0 not, or one of {", ".join(LABELS)})'
                )
            rows.append((claim, sources, int(label in (1, "supported"))))
    return rows


def _claims_of(line: str) -> list[str]:
    """The line itself; for an answer with judged "claims", a line each with the answer's sources."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError:
        return [line]
    if not isinstance(row, dict) or not isinstance(row.get("claims"), list):
        return [line]
    sources = row.get("sources", row.get("source", row.get("chunks")))
    return [json.dumps({"sources": sources, **claim}) if isinstance(claim, dict) else line for claim in row["claims"]]


def _show(result: dict[str, Any]) -> None:
    from rich.table import Table

    from rag_app.cli.common import console

    table = Table("", "balanced accuracy", "AUROC", title=f"{result['claims']} claims, level {result['level']}")
    table.add_row("verdicts", _cell(result["balanced_accuracy"]), _cell(result["auroc"]))
    for name, measures in result["baselines"].items():
        table.add_row(name, _cell(measures["balanced_accuracy"]), _cell(measures.get("auroc")))
    console().print(table)
    console().print(
        f"unsupported: precision {_cell(result['precision_unsupported'])}, "
        f"recall {_cell(result['recall_unsupported'])}; {result['ms_per_claim']} ms a claim"
    )


def _cell(measure: Any) -> str:
    if measure is None or measure.value is None:
        return "-"
    return f"{measure.value} [{measure.low}, {measure.high}]"
