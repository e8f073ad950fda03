"""The one normalization that a document's text gets before it is stored; all offsets refer to its result."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_NEWLINES = str.maketrans({"\r": "\n", "\x0b": "\n", "\x0c": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n\n"})
_HAS_NEWLINES = re.compile("[\r\x0b\x0c\x85\u2028\u2029]")
# Controls but tab and newline, lone surrogates, byte order marks.
_DROPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")


def normalize(text: str) -> str:
    r"""Newlines as `\n`, Unicode in NFC, no control characters but `\n` and `\t`, no BOM, no lone surrogates.

    Idempotent. Form feeds and Unicode line separators become newlines: they separate lines.
    """
    if _HAS_NEWLINES.search(text):
        text = text.replace("\r\n", "\n").translate(_NEWLINES)
    if _DROPPED.search(text):
        text = _DROPPED.sub("", text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def normalize_with_offsets(text: str, offsets: Sequence[int]) -> tuple[str, list[int]]:
    """The normalized text, and for each offset into `text` the offset of the same place in the result.

    An offset inside a sequence that becomes one character (base and accent, `\\r\\n`) moves behind it. Order is kept.
    """
    result = normalize(text)
    if result == text or not offsets:
        return result, list(offsets)
    moved: dict[int, int] = {}
    order = sorted(set(offsets))
    place = start = done = 0
    # Nothing composes across a newline, so each line is normalized by itself and only prefixes of lines are redone.
    while place < len(order):
        end = text.find("\n", start) + 1 or len(text)
        while place < len(order) and (order[place] < end or end == len(text)):
            moved[order[place]] = done + len(normalize(text[start : order[place]]))
            place += 1
        done += len(normalize(text[start:end]))
        start = end
    return result, [moved[offset] for offset in offsets]


def well_formed(text: str) -> str:
    """The text with U+FFFD for each lone surrogate: tokenizers and encoders take nothing else."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
