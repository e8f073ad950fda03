from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from rag_app.load.parsed import Failed, Parsed

PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>The book</dc:title><dc:creator>A. Writer</dc:creator></metadata>
<manifest><item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="two" href="t%20wo.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/>
</manifest><spine><itemref idref="one"/><itemref idref="two"/></spine></package>"""
CONTENTS = """<ncx><navMap><navPoint><navLabel><text>From the contents</text></navLabel><content src="t%20wo.xhtml#a"/>
</navPoint></navMap></ncx>"""


def book(**more: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", '<c><rootfiles><rootfile full-path="OPS/p.opf"/></rootfiles></c>')
        archive.writestr("OPS/p.opf", PACKAGE)
        archive.writestr("OPS/toc.ncx", CONTENTS)
        archive.writestr("OPS/one.xhtml", "<html><body><h1>First</h1><p>One.</p></body></html>")
        archive.writestr("OPS/t wo.xhtml", "<html><body><p>Two.</p></body></html>")
        for name, text in more.items():
            archive.writestr(name.replace("__", "/"), text)
    return out.getvalue()


def test_chapters_come_in_reading_order_with_headings_of_their_own_or_of_the_contents(
    parse: Callable[..., Parsed],
) -> None:
    parsed = parse(book(), "a.epub")
    assert parsed.text == "First\n\nOne.\n\nFrom the contents\n\nTwo."
    assert [(parsed.text[start:].split("\n")[0], title) for start, _, title in parsed.headings] == [
        ("First", "First"),
        ("From the contents", "From the contents"),
    ]
    assert (parsed.metadata["title"], parsed.metadata["author"]) == ("The book", "A. Writer")


def test_a_protected_book_is_named_as_such(fail: Callable[..., Failed]) -> None:
    key = '<e><EncryptedData><CipherReference URI="OPS/one.xhtml"/></EncryptedData></e>'
    assert fail(book(**{"META-INF__encryption.xml": key}), "a.epub").error == "encrypted"
