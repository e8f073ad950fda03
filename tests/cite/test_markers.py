"""Raw answers with the right outcome, whole and cut at every position; and properties of the parser."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.cite import StreamParser, parse_markers, renumber

Case = tuple[int, str, str, tuple[tuple[int, ...], ...], tuple[str, ...]]


def _read_cases() -> list[Case]:
    cases = []
    for line in (Path(__file__).parent / "raw_cases.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        n, raw, clean, markers, phantoms = line.split("¦")
        raw, clean = (side[1:-1].replace("\\n", "\n") for side in (raw, clean))
        numbers = tuple(tuple(int(x) for x in marker.split(",")) for marker in markers.split())
        cases.append((int(n), raw, raw if clean == "=" else clean, numbers, tuple(phantoms.split())))
    return cases


CASES = _read_cases()


def _stream(pieces: list[str], n: int) -> tuple[str, list[object], list[str]]:
    parser = StreamParser(n)
    news = [parser.feed(piece) for piece in pieces] + [parser.close()]
    return "".join(x.text for x in news), [m for x in news for m in x.markers], [p for x in news for p in x.phantoms]


def test_there_are_at_least_120_cases() -> None:
    assert len(CASES) >= 120


@pytest.mark.parametrize(("n", "raw", "clean", "numbers", "phantoms"), CASES)
def test_a_raw_text_comes_out_right(
    n: int, raw: str, clean: str, numbers: tuple[tuple[int, ...], ...], phantoms: tuple[str, ...]
) -> None:
    parsed = parse_markers(raw, n)
    assert parsed.text == clean
    assert tuple(marker.numbers for marker in parsed.markers) == numbers
    assert parsed.phantoms == phantoms


@pytest.mark.parametrize(("n", "raw", "clean", "numbers", "phantoms"), CASES)
def test_a_stream_cut_anywhere_gives_what_the_whole_gives(
    n: int, raw: str, clean: str, numbers: tuple[tuple[int, ...], ...], phantoms: tuple[str, ...]
) -> None:
    whole = parse_markers(raw, n)
    expected = (whole.text, list(whole.markers), list(whole.phantoms))
    assert _stream(list(raw), n) == expected
    for cut in range(len(raw) + 1):
        assert _stream([raw[:cut], raw[cut:]], n) == expected, f"cut at {cut}: {raw[:cut]!r}"


_PIECES = st.sampled_from(
    [
        "[1]",
        "[7]",
        "[1, 7]",
        "[2-5]",
        "【1】",
        " ",
        " ",
        ".",
        ", ",
        "\n",
        "\n\n",
        "word",
        "a",
        "`",
        "```\n",
        "(",
        ")",
        "[",
        "]",
        "!",
        "](",
        "http://x.y",
        "- ",
        "|",
        "*",
        "**",
        "<",
        ">",
        "[^1]",
        "[1]: x",
        "\\",
        "$$",
        "and",
        "天",
        "0",
        "=",
        "    ",
        "(see ",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=14), st.data())
def test_any_text_streams_as_it_parses(pieces: list[str], data: st.DataObject) -> None:
    raw = "".join(pieces)
    whole = parse_markers(raw, 3)
    expected = (whole.text, list(whole.markers), list(whole.phantoms))
    assert _stream(pieces, 3) == expected
    cut = data.draw(st.integers(0, len(raw)))
    assert _stream([raw[:cut], raw[cut:]], 3) == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=14))
def test_every_marker_is_in_range_and_stands_where_it_says(pieces: list[str]) -> None:
    parsed = parse_markers("".join(pieces), 3)
    for marker in parsed.markers:
        assert marker.numbers
        assert all(1 <= number <= 3 for number in marker.numbers)
        bracket = parsed.text[marker.span.start : marker.span.end]
        assert bracket[0] in "[［【"
        assert bracket[-1] in "]］】"


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=14))
def test_an_answer_without_phantoms_stays_as_it_was(pieces: list[str]) -> None:
    raw = "".join(pieces)
    parsed = parse_markers(raw, 3)
    if not parsed.phantoms:
        assert parsed.text == raw


def test_nothing_of_a_phantom_is_shown_while_it_streams() -> None:
    parser = StreamParser(3)
    shown = ""
    for char in "The limit is 30 days [7]. It is paid [1, 9].":
        shown += parser.feed(char).text
        assert "7" not in shown
        assert "9" not in shown
    assert shown + parser.close().text == "The limit is 30 days. It is paid [1]."


def test_markers_are_renumbered_in_order_of_appearance_on_request() -> None:
    parsed, new = renumber(parse_markers("A [3]. B [1, 3].", 3))
    assert parsed.text == "A [1]. B [2, 1]."
    assert new == {3: 1, 1: 2}
    assert [parsed.text[m.span.start : m.span.end] for m in parsed.markers] == ["[1]", "[2, 1]"]


def test_an_out_of_range_marker_is_dropped_and_its_claim_counts_as_uncited() -> None:
    from rag_app.cite import bind, claims

    parsed = parse_markers("A is red [1]. B is blue [7].", 3)
    assert parsed.text == "A is red [1]. B is blue."
    assert parsed.phantoms == ("7",)
    assert [claim.citations for claim in claims(bind(parsed))] == [(1,), ()]


@pytest.mark.parametrize(
    "text",
    [
        "$$[1][1]\n\n$$",
        "<code>[1]\n\n[7]</code> [2]",
        "<!-- [1]\n\n--> [7]",
        "> - ~~~[1](x\n[7]",
        "a[0]【1】[1, 7]",
        "a[0][1, 2, 3, 7] b [7].",
        "[1](\\)$)[7] x.",
        "_[7]_ and _[1]_",
    ],
)
def test_what_opens_and_does_not_close_is_the_same_in_a_stream(text: str) -> None:
    parsed = parse_markers(text, 3)
    expected = (parsed.text, list(parsed.markers), list(parsed.phantoms))
    assert _stream(list(text), 3) == expected
    for cut in range(1, len(text)):
        assert _stream([text[:cut], text[cut:]], 3) == expected


@pytest.mark.parametrize(
    "text",
    ["[ " * 6000, "[" * 6000, "*[" * 6000, "[^ " * 6000, "[9 " * 6000, "[1](" * 6000, "[1][" * 6000, "(see [9" * 6000,
     "[1]" * 6000, "[\n" * 6000,
     "found " * 3000 + "in [0, 1] " * 1500, "shown in" + " " * 9000 + "[0, 1]", "ge" * 9000 + "t in [0, 1]"],
)  # fmt: skip
def test_what_never_closes_is_read_in_linear_time(text: str) -> None:
    def seconds(raw: str) -> float:
        started = time.process_time()
        _stream([raw[at : at + 40] for at in range(0, len(raw), 40)], 3)
        return time.process_time() - started

    seconds(text[: len(text) // 4])
    assert seconds(text) < 10 * seconds(text[: len(text) // 4]) + 0.2
    assert seconds(text) < 3


def test_more_markers_in_a_row_than_a_run_holds_are_all_read() -> None:
    text = "It is so " + "[1][7]" * 40 + "."
    parsed = parse_markers(text, 3)
    assert parsed.text == "It is so " + "[1]" * 40 + "."
    assert (len(parsed.markers), len(parsed.phantoms)) == (40, 40)
    assert _stream(list(text), 3) == (parsed.text, list(parsed.markers), list(parsed.phantoms))
