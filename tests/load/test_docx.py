from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from rag_app.load.docx_styles import formatted
from rag_app.load.parsed import Failed, Parsed, ReadOptions
from rag_app.load.read import read

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def raw(body: str, **parts: str | bytes) -> bytes:
    """A DOCX of a body and further parts (`_` in a name stands for `/`)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        for name, content in parts.items():
            archive.writestr(name.replace("___", "/_").replace("__", "/"), content)
    return out.getvalue()


def p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@pytest.mark.docs
def test_headings_lists_and_tables_read_as_written(parse: Callable[..., Parsed]) -> None:
    import docx

    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "Manual", "A. Writer"
    document.add_heading("Pumps", 1)
    document.add_paragraph("The pump runs.")
    document.add_heading("Parts", 2)
    document.add_paragraph("Filter", style="List Bullet")
    document.add_paragraph("Hose", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip([c for row in table.rows for c in row.cells], ["Part", "Price", "Hose", "5"], strict=True):
        cell.text = text
    parsed = parse(saved(document), "a.docx")
    assert parsed.text == (
        "Pumps\n\nThe pump runs.\n\nParts\n\n- Filter\n- Hose\n\n| Part | Price |\n| --- | --- |\n| Hose | 5 |"
    )
    assert parsed.headings == ((0, 1, "Pumps"), (23, 2, "Parts"))
    assert (parsed.metadata["title"], parsed.metadata["author"]) == ("Manual", "A. Writer")


def test_numbers_that_word_shows_are_in_the_text(parse: Callable[..., Parsed]) -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for n, (form, text) in enumerate([("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)")])
    )
    numbering = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num></w:numbering>'
    )
    body = "".join(
        p(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="1"/></w:numPr>')
        for depth, text in [
            (0, "Terms"),
            (1, "Price"),
            (1, "Delivery"),
            (2, "late"),
            (2, "lost"),
            (0, "End"),
            (1, "Notice"),
        ]
    )
    data = raw(body, **{"word__numbering.xml": numbering})
    parsed = parse(data, "a.docx")
    assert parsed.text.split("\n") == [
        "1. Terms", "  1.1 Price", "  1.2 Delivery", "    (a) late", "    (b) lost", "2. End", "  2.1 Notice",
    ]  # fmt: skip


def test_deleted_text_is_gone_inserted_text_is_there_and_boxes_stand_once(parse: Callable[..., Parsed]) -> None:
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = f"<w:txbxContent>{p('In the box.')}</w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>Kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>new.</w:t></w:r></w:ins></w:p>"
        f"<w:p {mc}><w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )
    assert parse(raw(body), "a.docx").text == "Kept new.\n\nIn the box."


def test_notes_breaks_and_merged_cells(parse: Callable[..., Parsed]) -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text)}</w:tc>"

    wide, start, on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    table = (
        f"<w:tbl><w:tr>{cell('Wide', wide)}{cell('c')}</w:tr>"
        f"<w:tr>{cell('Tall', start)}{cell('1')}{cell('2')}</w:tr>"
        f"<w:tr>{cell('', on)}{cell('3')}{cell('4')}</w:tr></w:tbl>"
    )
    note = f'<w:footnotes {W}><w:footnote w:id="1">{p("The note.")}</w:footnote></w:footnotes>'
    body = f'<w:p><w:r><w:t>One</w:t><w:br/><w:t>two</w:t><w:footnoteReference w:id="1"/></w:r></w:p>{table}'
    assert parse(raw(body, **{"word__footnotes.xml": note}), "a.docx").text == (
        "One\ntwo[1]\n\n| Wide |  | c |\n| --- | --- | --- |\n| Tall | 1 | 2 |\n| Tall | 3 | 4 |\n\n[1] The note."
    )


def test_embedded_documents_are_documents_of_their_own() -> None:
    data = raw(p("Outer"), **{"word__embeddings__inner.docx": raw(p("Inner")), "word__embeddings__ole.bin": b"x"})
    outer, inner = read(data, "a.docx", ReadOptions())
    assert isinstance(outer, Parsed)
    assert isinstance(inner, Parsed)
    assert (outer.text, inner.text, inner.part) == ("Outer", "Inner", "inner.docx")


def test_bombs_and_entities_are_refused(fail: Callable[..., Failed]) -> None:
    assert fail(raw(p("x") + " " * 5_000_000), "a.docx", max_expanded=1_000_000).error == "too_large"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "word/document.xml", '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/hostname">]><d><body>&a;</body></d>'
        )
    assert fail(out.getvalue(), "a.docx").error == "unsafe"
    assert fail(raw("<w:sdt>" * 5000), "a.docx").error == "broken"


def test_a_damaged_part_and_an_empty_document_fail(fail: Callable[..., Failed]) -> None:
    data = bytearray(raw(p("some text that is long enough to be packed, packed, packed")))
    place = data.index(b"word/document.xml") + 40
    data[place : place + 20] = b"\xff" * 20
    assert fail(bytes(data), "a.docx").error == "broken"
    assert fail(raw(""), "a.docx").error == "empty"


@pytest.mark.parametrize(
    ("number", "form", "shown"),
    [
        (3, "decimal", "3"),
        (4, "lowerRoman", "iv"),
        (1994, "upperRoman", "MCMXCIV"),
        (28, "lowerLetter", "bb"),
        (5, "decimalZero", "05"),
    ],
)
def test_numbers_of_lists(number: int, form: str, shown: str) -> None:
    assert formatted(number, form) == shown


def test_heads_and_feet_of_pages_are_said_once_and_page_numbers_not(parse: Callable[..., Parsed]) -> None:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = "".join(
        f'<Relationship Id="r{n}" Type="{kind}/{what}" Target="{what}{n}.xml"/>'
        for n, what in enumerate(["header", "header", "footer"])
    )
    heads = {f"word__{name}.xml": f"<w:hdr {W}>{p('Acme Pumps, Hill Road')}</w:hdr>" for name in ("header0", "header1")}
    feet = {"word__footer2.xml": f"<w:ftr {W}>{p('Page 1')}</w:ftr>"}
    rels = {"word___rels__document.xml.rels": f"<Relationships>{links}</Relationships>"}
    assert parse(raw(p("Body."), **heads, **feet, **rels), "a.docx").text == "Body.\n\nAcme Pumps, Hill Road"
