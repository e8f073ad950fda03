"""PDF with pypdfium2: text in reading order by page, page labels, outline, form values, and where each line stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rag_app.load.encoding import repair
from rag_app.load.parsed import Fault, Parsed, ReadOptions, clean
from rag_app.load.pdf_headings import by_outline, by_size, title_line
from rag_app.load.pdf_order import Line, reading_order
from rag_app.load.pdf_segments import Frame, Segment, page_segments, page_turn, upright
from rag_app.load.pdf_text import PdfText, vocabulary

_JUNK_TITLE = re.compile(
    r"^(?:microsoft \w+ - |untitled|title|document\d*$|slide \d+$)|\.(?:docx?|tex|dvi|indd|pdf|pptx?)$", re.I
)
_DATE = re.compile(r"^D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(Z|[+-]\d{2}'?(?:\d{2})?'?)?")


def read_pdf(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The document; Fault "encrypted", "broken", or "no_text" with the pages that hold none."""
    import pypdfium2

    document = _open(data, options.passwords)
    try:
        facts = _facts(document)
        blocks, empty, damaged = _pages(document)
        if not any(blocks):
            if damaged and not empty:
                raise Fault("broken", f"no page of the PDF can be read (pages {_ranges(damaged)} are damaged)")
            raise Fault("no_text", _why_no_text(document, [*empty, *damaged]))
        text = PdfText(vocabulary(line for page in blocks for block in page for line in block))
        for page in blocks:
            text.page(page)
        headings = by_outline(document, text) or by_size(text)
        title = facts.get("title") or title_line(text)
        labels = [document.get_page_label(place) for place in range(len(document))]
    except pypdfium2.PdfiumError as error:
        raise Fault("broken", f"the PDF is damaged: {error}") from None
    finally:
        document.close()
    _refuse_garbage(text.text)
    facts.update({"title": title} if title else {})
    facts.update({"pages_without_text": empty} if empty else {})
    facts.update({"pages_damaged": damaged} if damaged else {})
    pages = tuple(
        (start, end, label if label and label != str(number) else None)
        for number, ((start, end), label) in enumerate(zip(text.pages, labels, strict=True), start=1)
    )
    return [Parsed(text.text, "pdf", facts, pages, headings, tuple(text.boxes))]


def _why_no_text(document: Any, numbers: Sequence[int]) -> str:
    import pypdfium2.raw as raw

    where = f"no text on page{'s' if len(numbers) > 1 else ''} {_ranges(numbers)}"
    for number in numbers[:20]:
        if any(True for _ in document[number - 1].get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=4)):
            return f"{where}: scanned? Run OCR over it first"
    return f"{where}: blank, or drawn without letters"


def _open(data: bytes, passwords: Sequence[str]) -> Any:
    import pypdfium2

    for password in (None, *passwords):
        try:
            document = pypdfium2.PdfDocument(data, password=password)
            if len(document) == 0:
                raise Fault("empty", "the PDF has no pages")
            return document
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower():
                continue
            # pdfium has no word for some faults and says "Success".
            reason = str(error).removesuffix(".").split("PDFium: ")[-1].rstrip(").").lower()
            said = f": {reason}" if reason not in ("success", "unknown error") else ""
            raise Fault("broken", f"the PDF is damaged and cannot be opened{said}") from None
    wrong = "none of the given passwords opens it" if passwords else "give its password in load.passwords"
    raise Fault("encrypted", f"the PDF is protected by a password; {wrong}")


def _pages(document: Any) -> tuple[list[list[list[Line]]], list[int], list[int]]:
    """Blocks of lines per page, the numbers of pages without text, and of those that cannot be read."""
    import pypdfium2

    form = document.init_forms() if document.get_formtype() else None
    pages: list[list[list[Line]]] = []
    empty: list[int] = []
    damaged: list[int] = []
    for number in range(1, len(document) + 1):
        try:
            page = document[number - 1]
            segments = _segments(page)
        except pypdfium2.PdfiumError:
            damaged.append(number)
            pages.append([])
            continue
        turn = page_turn(segments)
        blocks = reading_order([s for s in segments if s.turn == turn])
        for other in sorted({s.turn for s in segments} - {turn}):
            blocks += reading_order([s for s in segments if s.turn == other])
        if not blocks:
            empty.append(number)
        pages.append(blocks)
    del form
    return pages, empty, damaged


def _segments(page: Any) -> list[Segment]:
    left, bottom, right, top = page.get_cropbox()
    frame = Frame(left, bottom, right - left, top - bottom, page.get_rotation())
    textpage = page.get_textpage()
    try:
        return page_segments(textpage, frame) + _form_values(page, frame)
    finally:
        textpage.close()
        page.close()


def _form_values(page: Any, frame: Frame) -> list[Segment]:
    """What was filled into the page's form fields, where the fields stand."""
    import ctypes

    import pypdfium2.raw as raw

    found: list[Segment] = []
    for place in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, place)
        if not annotation:
            continue
        rect = raw.FS_RECTF()
        if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_WIDGET and raw.FPDFAnnot_GetRect(annotation, rect):
            size = raw.FPDFAnnot_GetStringValue(annotation, b"V", None, 0)
            buffer = (ctypes.c_ushort * (size // 2 + 1))()
            raw.FPDFAnnot_GetStringValue(annotation, b"V", buffer, size)
            value = clean(bytes(buffer).decode("utf-16-le", "replace").split("\0")[0])
            # Check boxes hold names such as "Off"; only filled text is text.
            if value and value not in ("Off", "Yes", "On", "0", "1"):
                box = (rect.left, rect.bottom, rect.right, rect.top)
                found.append(Segment(value, *upright(box, 0), frame.shown(box), rect.top - rect.bottom))
        raw.FPDFPage_CloseAnnot(annotation)
    return found


def _facts(document: Any) -> dict[str, Any]:
    known = {key: clean(repair(value)) for key, value in document.get_metadata_dict().items() if value and clean(value)}
    facts: dict[str, Any] = {}
    if "Title" in known and not _JUNK_TITLE.search(known["Title"]):
        facts["title"] = known["Title"]
    for key, field in (("Author", "author"), ("Subject", "subject"), ("Keywords", "keywords")):
        if key in known:
            facts[field] = known[key]
    for key, field in (("CreationDate", "created"), ("ModDate", "modified")):
        if (date := pdf_date(known.get(key, ""))) is not None:
            facts[field] = date
    return facts


def pdf_date(value: str) -> str | None:
    """`D:20240131120000+01'00'` as `2024-01-31T12:00:00+01:00`; None when it is no date."""
    match = _DATE.match(value)
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    if hour is not None:
        zone = "+00:00" if zone == "Z" else (re.sub(r"[^\d+-]", "", zone) if zone else "")
        zone = f"{zone[:3]}:{zone[3:5] or '00'}" if zone and ":" not in zone else zone
        date = f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}"
    try:
        datetime.fromisoformat(date)
    except ValueError:
        return None
    return date


def _refuse_garbage(text: str) -> None:
    """Text that its fonts give no Unicode for is not indexed as if it were text."""
    shown = [c for c in text if not c.isspace()]
    bad = sum(1 for c in shown if c == "\ufffd" or "\ue000" <= c <= "\uf8ff" or c < " ")
    if shown and bad > 0.5 * len(shown):
        raise Fault(
            "no_text", "the fonts of the PDF have no map to Unicode, so its text cannot be read; run OCR over it"
        )


def _ranges(numbers: Sequence[int]) -> str:
    """`[1, 2, 3, 7]` as `1-3, 7`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
