"""Office files in an OLE container: protected ones are opened with a password, old binary ones are named as such."""

from __future__ import annotations

import io
from dataclasses import replace

from rag_app.load.parsed import Fault, ReadOptions, Result
from rag_app.types import MissingExtraError

_STREAMS = {
    "an old Word file": "WordDocument",
    "an old Excel file": "Workbook",
    "an old PowerPoint file": "PowerPoint Document",
    "an Outlook message": "__properties_version1.0",
}


def read_ole(data: bytes, name: str, options: ReadOptions) -> list[Result]:
    """What the protected file holds; Fault "encrypted" without the right password, "unsupported" for other kinds."""
    from rag_app.load.read import attached

    if "EncryptedPackage".encode("utf-16-le") not in data:
        for what, stream in _STREAMS.items():
            if stream.encode("utf-16-le") in data:
                raise Fault("unsupported", f"{what}; save it in the format of today (.docx, .xlsx, .pptx, .eml)")
        raise Fault("unsupported", "an OLE container without a known document")
    if not options.passwords:
        raise Fault("encrypted", "the file is protected by a password; give it in load.passwords")
    results = attached(decrypt(data, options), "", options)
    return [replace(result, part=result.part.lstrip("#")) for result in results]


def decrypt(data: bytes, options: ReadOptions) -> bytes:
    """The package inside; each password is tried in turn."""
    try:
        import msoffcrypto
    except ImportError:
        raise MissingExtraError("msoffcrypto-tool", "docs", "opening protected office files") from None
    for password in options.passwords:
        out = io.BytesIO()
        try:
            file = msoffcrypto.OfficeFile(io.BytesIO(data))
            file.load_key(password=password)
            file.decrypt(out)
        except Exception:  # the library has many ways to say that a key is wrong
            continue
        if out.getvalue().startswith(b"PK"):
            return out.getvalue()
    raise Fault("encrypted", "the file is protected by a password; none of the given passwords opens it")
