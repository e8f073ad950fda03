"""The one normalization that a document's text gets before it is stored; all offsets refer to its result."""

from __future__ import annotations

import unicodedata

_NEWLINES = str.maketrans({"\r": "\n", "\x0b": "\n", "\x0c": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n\n"})
_KEPT_CONTROLS = "\n\t"


def normalize(text: str) -> str:
    r"""Newlines as `\n`, Unicode in NFC, no control characters but `\n` and `\t`, no BOM, no lone surrogates.

    Idempotent. Form feeds and Unicode line separators become newlines: they separate lines.
    """
    text = text.replace("\r\n", "\n").translate(_NEWLINES)
    text = "".join(
        c for c in text if c in _KEPT_CONTROLS or (unicodedata.category(c) not in ("Cc", "Cs") and c != "\ufeff")
    )
    return unicodedata.normalize("NFC", text)
