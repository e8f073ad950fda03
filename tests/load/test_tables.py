from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.load.parsed import Parsed
from rag_app.load.tables import detect_delimiter, pipe_table, row_lines, split_header


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_row_reads_as_header_and_value_in_any_dialect(parse: Callable[..., Parsed], delimiter: str) -> None:
    rows = [["Part", "Price"], ["Hose", "5"], ["Filter", "7"]]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    parsed = parse(text, "a.csv")
    assert parsed.text == "Part: Hose; Price: 5\nPart: Filter; Price: 7"
    assert parsed.metadata["rows"] == 2
    assert parsed.metadata["document_type"] == "table"


def test_quoted_cells_keep_delimiters_and_fold_newlines(parse: Callable[..., Parsed]) -> None:
    assert parse('a,b\n"x, y","two\nlines"\n', "a.csv").text == "a: x, y; b: two lines"


def test_a_table_of_numbers_has_no_header(parse: Callable[..., Parsed]) -> None:
    assert parse("1,2\n3,4\n", "a.csv").text == "1; 2\n3; 4"


def test_years_over_amounts_are_a_header() -> None:
    assert split_header([["item", "2023", "2024"], ["rent", "5", "6"]])[1] == ["item", "2023", "2024"]


def test_a_title_line_above_the_header_is_the_title(parse: Callable[..., Parsed]) -> None:
    parsed = parse("Cups,,\nTeam,Place,Cups\nBlues,STL,1\n", "a.csv")
    assert parsed.text == "Cups\nTeam: Blues; Place: STL; Cups: 1"
    assert parsed.metadata["title"] == "Cups"


def test_prose_with_commas_is_one_column() -> None:
    assert detect_delimiter("Lorem, ipsum\ndolor\nsit amet\nno, commas, here\nat all\n") == "\x1f"


def test_cells_beyond_the_header_have_their_number_and_empty_ones_no_place() -> None:
    assert list(row_lines(["a", "b"], [["1", "", "3"]])) == ["a: 1; column 3: 3"]


def test_a_small_table_reads_as_markdown() -> None:
    assert pipe_table([["a", "b"], ["1|2"]]) == "| a | b |\n| --- | --- |\n| 1\\|2 |  |"
    assert pipe_table([["", ""]]) == ""


@given(st.lists(st.lists(st.text("ab1, ;\"'\n", max_size=5), min_size=1, max_size=4), min_size=1, max_size=5))
def test_every_cell_is_in_the_text(rows: list[list[str]]) -> None:
    title, header, body = split_header(rows)
    lines = "\n".join([title, *header, *row_lines(header, body)])
    for row in rows:
        for cell in row:
            assert " ".join(cell.split()) in lines
