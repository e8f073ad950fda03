"""`rag-app cite`: one JSON object a line in, one out."""

from __future__ import annotations

import json

import typer
from typer.testing import CliRunner

from rag_app.cli.cite import register


def run(lines: list[object], *arguments: str) -> tuple[int, list[dict[str, object]]]:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    result = CliRunner().invoke(app, ["cite", "--json", *arguments], input=text)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


def test_a_draft_comes_out_cleaned_with_quotes_phantoms_and_claims() -> None:
    chunks = ["Cats purr. Cats weigh 4 kg.", "Dogs bark."]
    code, (row,) = run([{"id": "a", "text": "Cats weigh 4 kg [1]. Dogs bark [2, 7]. Fish swim [9].", "chunks": chunks}])
    assert code == 0
    assert row["id"] == "a"
    assert row["text"] == "Cats weigh 4 kg [1]. Dogs bark [2]. Fish swim."
    assert row["phantoms"] == ["7", "9"]
    assert [(c["marker"], c["chunk"], c["quote"]) for c in row["citations"]] == [  # type: ignore[attr-defined]
        (1, 0, "Cats weigh 4 kg."),
        (2, 1, "Dogs bark."),
    ]
    for citation in row["citations"]:  # type: ignore[attr-defined]
        start, end = citation["span"]
        assert chunks[citation["chunk"]][start:end] == citation["quote"]
    for claim in row["claims"]:  # type: ignore[attr-defined]
        start, end = claim["span"]
        assert row["text"][start:end] == claim["text"]  # type: ignore[index]
    assert [claim["citations"] for claim in row["claims"]] == [[1], [2], []]  # type: ignore[attr-defined]


def test_lines_come_out_in_order_and_a_bad_one_does_not_stop_the_rest() -> None:
    good = {"id": 1, "text": "A [1].", "chunks": ["A."]}
    code, rows = run([good, "{broken", {"id": 2}, {"id": 3, "text": "B", "chunks": "no"}, "[]", {**good, "id": 4}])
    assert code == 1
    assert [row["id"] for row in rows] == [1, None, 2, 3, None, 4]
    assert ["error" in row for row in rows] == [False, True, True, True, True, False]


def test_no_chunks_make_every_marker_a_phantom() -> None:
    _, (row,) = run([{"id": 1, "text": "A [1].", "chunks": []}])
    assert (row["text"], row["phantoms"], row["citations"]) == ("A.", ["1"], [])


def test_an_empty_input_is_an_empty_output() -> None:
    assert run([]) == (0, [])


def test_odd_bytes_spoil_their_own_line_only_and_each_answer_stays_one_line() -> None:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    deep = b'{"id": 2, "text": ' + b"[" * 100_000
    first = json.dumps({"id": 1, "text": "A\u2028b\x85c [1].", "chunks": ["A"]}, ensure_ascii=False)
    lines = [
        b"\xef\xbb\xbf" + first.encode(),
        deep,
        b'{"id": 3, "text": "caf\xe9"}',
        b'{"id": NaN, "text": "half \\ud83d [1]", "chunks": ["x"]}',
    ]
    result = CliRunner().invoke(app, ["cite", "--json"], input=b"\r\n".join(lines))
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["id"] for row in rows] == [1, None, 3, None]
    assert ["error" in row for row in rows] == [False, True, False, False]
    assert result.exit_code == 1
