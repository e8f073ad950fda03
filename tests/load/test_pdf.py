from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rag_app.load.parsed import Failed, Parsed
from rag_app.load.pdf import pdf_date

reportlab = pytest.importorskip("reportlab", reason="reportlab makes the PDFs of these tests (extra `dev`)")
A4 = (595.0, 842.0)


def pdf(*pages: Sequence[tuple[float, float, str]], size: float = 10, encrypt: Any = None, **facts: str) -> bytes:
    """A PDF whose pages hold `(x, y from the top, text)`; `#` before a text sets it large."""
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1, encrypt=encrypt)
    for key, value in facts.items():
        getattr(canvas, f"set{key.title()}")(value)
    for page in pages:
        for x, y, text in page:
            canvas.setFont("Helvetica", size * 1.8 if text.startswith("#") else size)
            canvas.drawString(x, A4[1] - y, text.removeprefix("#"))
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def column(x: float, lines: Sequence[str], top: float = 100) -> list[tuple[float, float, str]]:
    return [(x, top + 12 * place, line) for place, line in enumerate(lines)]


LEFT = [f"Left line number {n} runs across the whole column here." for n in range(6)]
RIGHT = [f"Right line number {n} runs across the whole column too." for n in range(6)]


def test_two_columns_are_read_one_after_the_other_whatever_the_order_of_the_file(parse: Callable[..., Parsed]) -> None:
    rows = [piece for pair in zip(column(50, LEFT), column(320, RIGHT), strict=True) for piece in pair]
    parsed = parse(
        pdf([(50, 60, "A line over both columns, which is long enough to cross the gutter of the page"), *rows]),
        "a.pdf",
    )
    assert parsed.text.split("\n")[2:] == [*LEFT, "", *RIGHT]


def test_a_table_is_read_row_by_row(parse: Callable[..., Parsed]) -> None:
    cells = [["Part", "Price"], ["Hose", "5"], ["Filter", "17"], ["Pump", "230"], ["Valve", "8"]]
    rows = [(60 + 200 * c, 100 + 14 * r, cell) for c in range(2) for r, cell in enumerate(row[c] for row in cells)]
    assert parse(pdf(rows), "a.pdf").text == "Part  Price\nHose  5\nFilter  17\nPump  230\nValve  8"


def test_words_divided_at_the_end_of_a_line_are_joined(parse: Callable[..., Parsed]) -> None:
    lines = [
        "The well-known pump needs mainten-",
        "ance every year, says the well-",
        "known handbook of Smith-",
        "Jones and others.",
    ]
    assert parse(pdf(column(50, lines)), "a.pdf").text == (
        "The well-known pump needs maintenance every year, says the well-known handbook of Smith-Jones and others."
    )


def test_every_box_holds_its_text_and_lies_on_its_page(parse: Callable[..., Parsed]) -> None:
    parsed = parse(
        pdf(column(50, ["First mainten-", "ance line.", "Second line."]), column(70, ["Next page."])), "a.pdf"
    )
    texts = [parsed.text[start:end] for start, end, *_ in parsed.boxes]
    assert texts == ["First mainten", "ance line.", "Second line.", "Next page."]
    assert [box[2] for box in parsed.boxes] == [1, 1, 1, 2]
    x0, y0, x1, y1 = parsed.boxes[0][3:]
    assert x0 == pytest.approx(50, abs=2)
    assert y0 < 100 < y1 < 112
    assert 100 < x1 < 150
    pages = [parsed.text[start:end] for start, end, _ in parsed.pages]
    assert pages == ["First maintenance line.\nSecond line.", "Next page."]
    assert parsed.metadata["page_count"] == 2


def test_a_turned_page_gives_boxes_as_it_is_shown(parse: Callable[..., Parsed]) -> None:
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setPageRotation(90)
    canvas.drawString(100, 700, "Turned")
    canvas.save()
    parsed = parse(out.getvalue(), "a.pdf")
    x0, y0, x1, y1 = parsed.boxes[0][3:]
    assert parsed.text == "Turned"
    assert x0 < 700 < x1  # shown turned clockwise: what was up is now right, what was left is now up
    assert y0 == pytest.approx(100, abs=2)
    assert y1 - y0 > x1 - x0


def test_text_written_upwards_is_read_after_the_rest(parse: Callable[..., Parsed]) -> None:
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.rotate(90)
    canvas.drawString(300, -30, "Stamp at the side")
    canvas.rotate(-90)
    canvas.drawString(100, 700, "The text of the page is longer.")
    canvas.save()
    assert parse(out.getvalue(), "a.pdf").text == "The text of the page is longer.\n\nStamp at the side"


def test_the_outline_gives_headings_where_their_lines_are(parse: Callable[..., Parsed]) -> None:
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for key, title, level in (("a", "Intro", 0), ("b", "Detail", 1)):
        canvas.bookmarkPage(key)
        canvas.addOutlineEntry(title, key, level)
        canvas.drawString(50, 780, "Running head")
        canvas.drawString(50, 700, title)
        canvas.showPage()
    canvas.save()
    parsed = parse(out.getvalue(), "a.pdf")
    assert [(parsed.text[start : start + len(title)], level) for start, level, title in parsed.headings] == [
        ("Intro", 1),
        ("Detail", 2),
    ]


def test_without_an_outline_large_lines_are_headings(parse: Callable[..., Parsed]) -> None:
    body = [f"An ordinary line of the text, number {n}." for n in range(12)]
    parsed = parse(pdf([(50, 60, "#Pumps"), *column(50, body), (50, 300, "#Filters"), *column(50, body, 330)]), "a.pdf")
    assert [title for _, _, title in parsed.headings] == ["Pumps", "Filters"]
    assert parsed.metadata["title"] == "Pumps"


def test_paragraphs_are_separated_by_a_blank_line(parse: Callable[..., Parsed]) -> None:
    parsed = parse(
        pdf([*column(50, ["One one.", "One two.", "One three."]), *column(50, ["Two one.", "Two two."], 160)]), "a.pdf"
    )
    assert parsed.text == "One one.\nOne two.\nOne three.\n\nTwo one.\nTwo two."


def test_facts_and_filled_fields_are_read(parse: Callable[..., Parsed]) -> None:
    parsed = parse(pdf([(50, 50, "x")], title="A title", author="A. Writer", subject="S"), "a.pdf")
    assert (parsed.metadata["title"], parsed.metadata["author"], parsed.metadata["subject"]) == (
        "A title",
        "A. Writer",
        "S",
    )
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawString(50, 700, "Name:")
    canvas.acroForm.textfield(name="n", value="Ann Miller", x=100, y=695, width=150, height=20)
    canvas.save()
    assert parse(out.getvalue(), "a.pdf").text.split() == ["Name:", "Ann", "Miller"]


def test_junk_titles_are_not_believed(parse: Callable[..., Parsed]) -> None:
    assert parse(pdf([(50, 50, "x")], title="Microsoft Word - draft.doc"), "report.pdf").metadata["title"] == "report"


def test_pages_without_text_are_reported(parse: Callable[..., Parsed], fail: Callable[..., Failed]) -> None:
    parsed = parse(pdf([(50, 50, "Text")], [], [(50, 50, "More")]), "a.pdf")
    assert parsed.metadata["pages_without_text"] == [2]
    assert [start for start, _, _ in parsed.pages] == [0, 4, 6]
    failure = fail(pdf([], [], []), "a.pdf")
    assert (failure.error, failure.reason) == ("no_text", "no text on pages 1-3: blank, or drawn without letters")


def test_a_scan_is_named_as_such(fail: Callable[..., Failed]) -> None:
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawImage(ImageReader(Image.new("RGB", (20, 20), "gray")), 0, 0, 500, 700)
    canvas.save()
    assert fail(out.getvalue(), "a.pdf").reason == "no text on page 1: scanned? Run OCR over it first"


def test_passwords_open_protected_files(parse: Callable[..., Parsed], fail: Callable[..., Failed]) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption

    data = pdf([(50, 50, "Secret text")], encrypt=StandardEncryption("open", ownerPassword="own", strength=128))
    assert parse(data, "a.pdf", passwords=("wrong", "open")).text == "Secret text"
    assert fail(data, "a.pdf").reason == "the PDF is protected by a password; give its password in load.passwords"
    assert fail(data, "a.pdf", passwords=("wrong",)).reason.endswith("none of the given passwords opens it")


def test_damaged_files_fail(fail: Callable[..., Failed]) -> None:
    assert fail(b"%PDF-1.7\n" + b"x" * 500, "a.pdf").error == "broken"


def test_dates_are_iso_or_nothing() -> None:
    assert pdf_date("D:20240131120000+01'00'") == "2024-01-31T12:00:00+01:00"
    assert pdf_date("D:20240131") == "2024-01-31"
    assert pdf_date("D:20241341") is None
    assert pdf_date("yesterday") is None
