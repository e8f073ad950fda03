from __future__ import annotations

import io
import zipfile

import pytest

from rag_app.load.kinds import detect, suffix_of
from rag_app.load.parsed import Fault


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return out.getvalue()


def test_content_decides_before_the_name() -> None:
    assert detect(b"%PDF-1.4 ...", "report") == "pdf"
    assert detect(zipped("word/document.xml"), "report.bin") == "docx"
    assert detect(b"{\\rtf1 x}", "letter.txt") == "rtf"
    assert detect(b"<!DOCTYPE html><p>x", "page") == "html"
    assert detect(b"just text", "README") == "text"


def test_a_text_that_mentions_a_mark_stays_text() -> None:
    assert detect(b"MZ is how programs start", "notes.txt") == "text"
    assert detect(b"On %PDF-1.4 headers", "notes.md") == "markdown"


@pytest.mark.parametrize(
    ("data", "name", "error", "words"),
    [
        (b"\x89PNG\r\n", "x.png", "unsupported", "a PNG picture"),
        (b"not a pdf", "x.pdf", "broken", "does not start as one"),
        (b"PK\x03\x04 cut", "x.docx", "broken", "damaged"),
        (zipped("a.txt"), "x.zip", "unsupported", "unpack it"),
        (b"\x7fELF...", "x.pdf", "unsupported", "a program"),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, name: str, error: str, words: str) -> None:
    with pytest.raises(Fault, match=words) as caught:
        detect(data, name)
    assert caught.value.error == error


def test_suffixes() -> None:
    assert [suffix_of(name) for name in ("a.TXT", "b/c.tar.gz", ".hidden", "none")] == [".txt", ".gz", "", ""]
