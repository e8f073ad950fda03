"""Bytes to text: marks first, then UTF-8, then what the file declares, then a guess that is reported as one."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from rag_app.load.parsed import Fault

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Common names first: where a rarer relative gives the same text, the common name is reported.
_COMMON = (
    "cp1252", "cp1250", "cp1251", "cp866", "koi8_r", "koi8_u", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
    "cp932", "gb18030", "big5", "cp949", "euc_jp",
)  # fmt: skip
# The web's reading of these names: every "latin-1" page is windows-1252.
_WEB_NAMES = {
    "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "iso-8859-8-i": "iso-8859-8", "gb2312": "gb18030", "shift_jis": "cp932", "ks_c_5601-1987": "cp949",
}  # fmt: skip
_SAMPLE = 256 * 1024
_USUAL = frozenset(
    "àáâãäåæçèéêëìíîïñòóôõöøùúûüýßœÀÁÂÄÅÆÇÈÉÊÍÎÑÓÔÖØÚÜąćęłńśźżĄĆĘŁŃŚŹŻčďěňřšťůžČŘŠŽőűğışĞİŞăâîșț"
    "абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЭЮЯіїєґ"
    "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώ\u05d0\u05d1\u05d2\u05d3\u05d4\u05d5\u05d6\u05d7\u05d8\u05d9\u05da\u05db"
    "\u05dc\u05dd\u05de\u05df\u05e0\u05e1\u05e2\u05e3\u05e4\u05e5\u05e6\u05e7\u05e8\u05e9\u05ea"
    "«»“”„‘’–—…•€£§°©®№·\u00a0、。，！？「」『』（）：；・ー¿¡"
) | frozenset(map(chr, [*range(0x621, 0x64B), *range(0x3041, 0x30FF), *range(0xAC00, 0xD7A4)]))


# UTF-8 that was read as Latin-1 or windows-1252 and saved as UTF-8 again: "Ã©" for "é", "â€™" for an apostrophe.
_TWICE = re.compile(
    "[\u00c2-\u00f4](?:[\u0080-\u00bf]|[\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019"
    "\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]){1,3}"
)


class Decoded(NamedTuple):
    """The text, the encoding's name, and whether it was guessed from the bytes."""

    text: str
    encoding: str
    guessed: bool = False
    repaired: bool = False


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """The text of `data`; Fault when it is no text, or when no encoding gives a plausible one.

    `declared` (from a MIME header, a meta element) is believed when the bytes agree with it.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_strict(data, encoding), encoding.removesuffix("-sig"))
    if (wide := _without_mark(data)) is not None:
        return wide
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    else:
        if _controls(text) <= len(text) * 0.01:
            mended = text if text.isascii() else repair(text)
            return Decoded(mended, "ascii" if text.isascii() else "utf-8", repaired=mended != text)
        raise Fault("unsupported", "binary data, not text")
    if declared and (believed := _declared(data, declared)) is not None:
        return believed
    return _guess(data)


def repair(text: str) -> str:
    """The text with characters that were encoded twice read right; other text comes back as it is."""
    return _TWICE.sub(_once, text)


def _once(match: re.Match[str]) -> str:
    # windows-1252 leaves five bytes undefined; Latin-1 has the C1 controls in their place.
    raw = b"".join(c.encode("latin-1") if ord(c) < 256 else c.encode("cp1252") for c in match.group())
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return match.group()


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if error.end >= len(data) - 3 and error.start >= len(data) - 4:  # the last character is cut
            return data[: error.start].decode(encoding)
        raise Fault("encoding", f"starts as {encoding} but breaks at byte {error.start}") from None


def _without_mark(data: bytes) -> Decoded | None:
    """UTF-16 or UTF-32 without a byte order mark, known by where the zero bytes are."""
    sample = data[:4096]
    if len(sample) < 4 or 0 not in sample:
        return None
    share = [sample[lane::4].count(0) / max(1, len(sample[lane::4])) for lane in range(4)]
    if share[2] > 0.9 and share[3] > 0.9 and share[0] < 0.2:
        names = ["utf-32-le"]
    elif share[0] > 0.9 and share[1] > 0.9 and share[3] < 0.2:
        names = ["utf-32-be"]
    elif min(share[1], share[3]) > 0.3 and max(share[0], share[2]) < 0.1:
        names = ["utf-16-le"]
    elif min(share[0], share[2]) > 0.3 and max(share[1], share[3]) < 0.1:
        names = ["utf-16-be"]
    else:
        return None
    for name in names:
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        if _controls(text) <= len(text) * 0.01:
            return Decoded(text, name, guessed=True)
    return None


def _declared(data: bytes, declared: str) -> Decoded | None:
    name = declared.strip().strip("\"'").lower()
    name = _WEB_NAMES.get(name, name)
    try:
        text = data.decode(name)
    except (LookupError, UnicodeDecodeError):
        return None
    return Decoded(text, name) if _controls(text) <= len(text) * 0.01 else None


def _guess(data: bytes) -> Decoded:
    from charset_normalizer import from_bytes

    if data[:65536].count(0) > 2 or _control_bytes(data[:65536]) > 0.05:
        raise Fault("unsupported", "binary data, not text")
    best = from_bytes(data[:_SAMPLE]).best()
    options = list(_COMMON)
    if best is not None and not best.encoding.startswith(("utf", "mac")):
        options.append(best.encoding)
    scored: list[tuple[float, int, str]] = []
    for place, name in enumerate(options):
        try:
            text = data[:_SAMPLE].decode(name, "strict" if len(data) <= _SAMPLE else "ignore")
        except UnicodeDecodeError:
            continue
        bonus = 0.03 if best is not None and text == str(best) else 0.0
        scored.append((plausibility(text) + bonus, -place, name))
    for score, _, name in sorted(scored, reverse=True):
        if score < 0.5:
            break
        try:
            return Decoded(data.decode(name), name, guessed=True)
        except UnicodeDecodeError:
            continue
    raise Fault("encoding", "the text is in no encoding that could be recognized; convert it to UTF-8")


def plausibility(text: str) -> float:
    """How much the non-ASCII part of `text` looks like writing, in [0, 1]: usual letters of one script."""
    foreign = [c for c in text if ord(c) > 127]
    if not foreign:
        return 1.0
    scripts = Counter(_script(c) for c in foreign if unicodedata.category(c)[0] == "L")
    # Two foreign scripts side by side are the mark of a wrong table; Latin beside one other is usual.
    purity = max(scripts.values()) / sum(scripts.values()) if scripts else 1.0
    words = [w for w in re.findall(r"[^\W\d_]{2,}", text) if not w.isascii()]
    odd = sum(1 for word in words if _odd(word))
    return sum(map(_weight, foreign)) / len(foreign) * purity * (1 - 0.7 * odd / max(1, len(words)))


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "?").split()[0]
    return "EAST" if name in ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH", "FULLWIDTH", "KATAKANA-HIRAGANA") else name


def _weight(c: str) -> float:
    """How usual a non-ASCII character is in text, in [0, 1]."""
    if c in _USUAL:
        return 1.0
    category = unicodedata.category(c)
    if "\u4e00" <= c <= "\u9fff":
        return 1.0 if _encodes(c, "gb2312") or _encodes(c, "big5") else 0.4
    if category[0] == "L":
        return 0.85 if "HALFWIDTH" not in unicodedata.name(c, "") else 0.5
    if category == "Mn":
        return 0.7
    return 0.4 if category[0] in ("P", "S", "Z") and ord(c) < 0x2500 else 0.0


def _encodes(c: str, encoding: str) -> bool:
    try:
        return bool(c.encode(encoding))
    except UnicodeEncodeError:
        return False


def _odd(word: str) -> bool:
    """A capital inside, ASCII letters among letters of another script, or a Latin word of accented letters only."""
    if any(a.islower() and b.isupper() for a, b in pairwise(word)):
        return True
    plain = sum(c.isascii() for c in word)
    if any(ord(c) > 0x24F for c in word):
        cyrillic = "а" <= word[0].lower() <= "ґ"
        return plain > 0 or (cyrillic and len(word) > 2 and not set(word.lower()) & set("аеёиоуыэюяіїє"))
    return len(word) > 2 and plain < len(word) / 3


def _controls(text: str) -> int:
    return sum(
        text.count(c) for c in "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x1a"
    )


def _control_bytes(data: bytes) -> float:
    return sum(1 for b in data if b < 9 or 13 < b < 27) / max(1, len(data))
