from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rag_app.load.parsed import Failed, Parsed

pytestmark = pytest.mark.docs
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def test_a_protected_file_opens_with_its_password_only(
    parse: Callable[..., Parsed], fail: Callable[..., Failed]
) -> None:
    import docx
    from msoffcrypto.format.ooxml import OOXMLFile

    document = docx.Document()
    document.add_paragraph("Secret text")
    plain, protected = io.BytesIO(), io.BytesIO()
    document.save(plain)
    OOXMLFile(plain).encrypt("open", protected)
    data = protected.getvalue()
    assert parse(data, "a.docx", passwords=("wrong", "open")).text == "Secret text"
    assert fail(data, "a.docx").reason == "the file is protected by a password; give it in load.passwords"
    assert fail(data, "a.docx", passwords=("wrong",)).reason.endswith("none of the given passwords opens it")


def test_old_binary_files_are_named_as_such(fail: Callable[..., Failed]) -> None:
    failure = fail(OLE + "WordDocument".encode("utf-16-le"), "a.doc")
    assert (failure.error, failure.reason.split(";")[0]) == ("unsupported", "an old Word file")
    assert fail(OLE + b"x" * 600, "a.bin").error == "unsupported"
