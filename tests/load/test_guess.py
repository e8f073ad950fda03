from __future__ import annotations

import pytest

from rag_app.load.guess import DOCUMENT_TYPES, document_type
from rag_app.load.parsed import Parsed

CONTRACT = """Supply Agreement

1.1 The Parties to this Agreement are named in the preamble.
1.2 Whereas the Supplier delivers, the Buyer pays.
2.1 Termination requires notice. Confidential Information stays secret.
2.2 The governing law is that of the seat.
"""
TRANSCRIPT = "\n".join(
    f"{who}: I think that is what we said about point {n}." for n in range(5) for who in ("Ann", "Bob")
)
FAQ = "\n\n".join(f"How do I change setting {n}?\n\nOpen the page and choose it." for n in range(5))


@pytest.mark.parametrize(
    ("text", "format", "name", "kind"),
    [
        ("x", "csv", "a.csv", "table"),
        ("x", "pptx", "a.pptx", "slides"),
        ("x", "code", "a.py", "code"),
        ("x", "email", "a.eml", "email"),
        (CONTRACT, "text", "a.txt", "contract"),
        (TRANSCRIPT, "text", "a.txt", "transcript"),
        (FAQ, "html", "a.html", "faq"),
        ("# Head\n\nProse.", "markdown", "a.md", "markdown"),
        ("Just a few words of prose. And more.", "pdf", "a.pdf", "prose"),
    ],
)
def test_the_kind_of_document_is_guessed(text: str, format: str, name: str, kind: str) -> None:
    assert document_type(Parsed(text, format), name) == kind
    assert kind in DOCUMENT_TYPES
