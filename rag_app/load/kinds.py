"""Which reader a file needs: by what its first bytes say, then by its name."""

from __future__ import annotations

import io
import zipfile

from rag_app.load.parsed import Fault
from rag_app.load.text import CODE, CODE_NAMES

_SUFFIXES = {
    "text": ".txt .text .log", "markdown": ".md .markdown .mdx", "rst": ".rst .rest", "html": ".html .htm .xhtml",
    "pdf": ".pdf", "docx": ".docx .docm .dotx", "pptx": ".pptx .pptm .ppsx", "xlsx": ".xlsx .xlsm", "epub": ".epub",
    "odf": ".odt .ods .odp", "rtf": ".rtf", "csv": ".csv .tsv .tab", "json": ".json", "jsonl": ".jsonl .ndjson",
    "notebook": ".ipynb", "email": ".eml", "mbox": ".mbox",
}  # fmt: skip
FORMATS = {
    **{suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()},
    **dict.fromkeys(CODE, "code"),
}
_OFFICE = ("docx", "pptx", "xlsx")
_NO_TEXT = {
    "a PNG picture": b"\x89PNG", "a JPEG picture": b"\xff\xd8\xff", "a GIF picture": b"GIF8", "sound": b"ID3",
    "a TIFF picture": b"II*\x00", "a TIFF picture (Motorola)": b"MM\x00*", "sound or video": b"RIFF",
    "sound or video (Ogg)": b"OggS", "a gzip archive": b"\x1f\x8b", "a 7-Zip archive": b"7z\xbc\xaf",
    "a RAR archive": b"Rar!", "a bzip2 archive": b"BZh", "an xz archive": b"\xfd7zXZ", "a program": b"\x7fELF",
    "a Windows program": b"MZ", "an SQLite database": b"SQLite format 3", "sound (FLAC)": b"fLaC",
}  # fmt: skip
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def detect(data: bytes, name: str) -> str:
    """The format of a file; Fault "unsupported" says what it is instead, "broken" that its name promises more."""
    named = FORMATS.get(suffix_of(name), "code" if name.lower() in CODE_NAMES else "")
    head = data[:1024]
    if b"%PDF-" in head and (named == "pdf" or head.lstrip()[:5] == b"%PDF-"):
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(data, named)
    if head.startswith(_OLE):
        return "ole"
    if head.lstrip()[:5] == b"{\\rtf":
        return "rtf"
    for what, mark in _NO_TEXT.items():
        if head.startswith(mark) and named in ("", "pdf", *_OFFICE, "epub", "odf"):
            raise Fault("unsupported", f"{what}; there is no text to read")
    if named in ("pdf", *_OFFICE, "epub", "odf", "rtf"):
        if not data.strip():
            raise Fault("empty", "the file is empty")
        raise Fault(
            "broken", f"named {suffix_of(name)} but does not start as one; the file is damaged or something else"
        )
    if named:
        return named
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "html"
    if start.startswith(b"from ") and b"\nfrom:" in data[:4096].lower():
        return "mbox"
    return "text"


def suffix_of(name: str) -> str:
    """The last suffix of a file name, in lower case, with its dot; empty when there is none."""
    base = name.rsplit("/", 1)[-1].lower()
    return base[base.rfind(".") :] if "." in base[1:] else ""


def _zipped(data: bytes, named: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            mimetype = archive.read("mimetype")[:100] if "mimetype" in names else b""
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, KeyError, RuntimeError, NotImplementedError):
        kind = f"{named} file" if named else "zip archive"
        raise Fault("broken", f"the {kind} is damaged: its directory cannot be read") from None
    if b"epub" in mimetype:
        return "epub"
    if b"opendocument" in mimetype:
        return "odf"
    for kind, folder in (("docx", "word/"), ("pptx", "ppt/"), ("xlsx", "xl/")):
        if any(entry.startswith(folder) for entry in names):
            return kind
    if named in (*_OFFICE, "epub", "odf"):
        return named
    raise Fault("unsupported", "a zip archive; unpack it and load the files")
