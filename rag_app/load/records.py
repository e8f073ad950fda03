"""JSON, JSON Lines and notebooks: whole records as readable lines, or a text field with the rest as metadata."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from rag_app.load.parsed import Failed, Fault, Parsed, ReadOptions, Result, TextBuilder
from rag_app.load.text import decoded


def read_json(data: bytes, name: str, options: ReadOptions) -> list[Result]:
    """One document of all records; with `text_field`, a document for each record that has it."""
    text, note = decoded(data)
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        if "\n" in text.strip() and error.msg == "Extra data":
            return read_jsonl(data, name, options)
        raise Fault("broken", f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    records = value if isinstance(value, list) else [value]
    return _documents(list(enumerate(records, start=1)), [], "json", note, options)


def read_jsonl(data: bytes, name: str, options: ReadOptions) -> list[Result]:
    """The same for one record a line; a line that is no JSON fails by its number, the others go on."""
    text, note = decoded(data)
    records: list[tuple[int, Any]] = []
    failures: list[Failed] = []
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append((number, json.loads(line)))
        except json.JSONDecodeError as error:
            failures.append(Failed(f"line={number}", "broken", f"line {number} is not JSON: {error.msg}"))
    if not records and failures:
        raise Fault("broken", f"no line is JSON; {failures[0].reason}")
    return _documents(records, failures, "jsonl", note, options)


def _documents(
    records: Sequence[tuple[int, Any]], failures: list[Failed], kind: str, note: dict[str, Any], options: ReadOptions
) -> list[Result]:
    if options.text_field is None:
        builder = TextBuilder()
        for _, record in records:
            builder.block("\n".join(lines_of(record)))
        return [builder.build(kind, {**note, "records": len(records)}), *failures]
    results: list[Result] = []
    for number, record in records:
        text = _field(record, options.text_field)
        if not isinstance(text, str):
            reason = f"record {number} has no text in the field {options.text_field!r}"
            results.append(Failed(f"{number}", "no_text", reason))
            continue
        rest = {k: v for k, v in record.items() if k != options.text_field.split(".")[0] and _scalar(v)}
        results.append(Parsed(text, kind, {**rest, **note, "record": number}, part=str(number)))
    return [*results, *failures]


def _field(record: Any, path: str) -> Any:
    return _below(record, *path.split("."))


def _scalar(value: Any) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False  # Python's reader of JSON takes NaN and Infinity; JSON itself has neither
    return isinstance(value, str | int | float | bool) or (
        isinstance(value, list) and all(isinstance(item, str | int | float | bool) for item in value)
    )


def lines_of(value: Any, path: str = "") -> Iterator[str]:
    """`path.to.key: value` for each value of a record; lists of plain values on one line."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from lines_of(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and not all(_scalar(item) for item in value):
        for place, item in enumerate(value, start=1):
            yield from lines_of(item, f"{path}[{place}]")
    elif value not in (None, "", [], {}):
        shown = ", ".join(map(_shown, value)) if isinstance(value, list) else _shown(value)
        yield f"{path}: {shown}" if path else shown


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_notebook(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """A Jupyter notebook: Markdown cells as they are, code in fences, text output below it."""
    from rag_app.load.markdown import markdown_headings

    text, note = decoded(data)
    try:
        book = json.loads(text)
        cells = book["cells"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise Fault("broken", f"not a notebook: {error}") from None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Fault("broken", "not a notebook: its cells are no list of objects")
    language = str(_below(book, "metadata", "kernelspec", "language") or "python")
    blocks = []
    for cell in cells:
        source = _joined(cell.get("source") or "")
        if cell.get("cell_type") == "code":
            blocks.append(f"```{language}\n{source.rstrip()}\n```" if source.strip() else "")
            blocks += [f"```\n{out.rstrip()}\n```" for out in _outputs(cell) if out.strip()]
        else:
            blocks.append(source.strip())
    body = "\n\n".join(block for block in blocks if block)
    headings = markdown_headings(body)
    title = {"title": headings[0][2]} if headings else {}
    return [Parsed(body, "notebook", {**title, **note, "code_language": language}, headings=headings)]


def _outputs(cell: Any) -> Iterator[str]:
    for output in cell.get("outputs") or ():
        yield _joined(_below(output, "text") or _below(output, "data", "text/plain") or "")


def _below(value: Any, *keys: str) -> Any:
    """The value under `keys`, one after the other; None where one is missing or the value above is no object."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _joined(source: Any) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
