"""The Markdown around markers: where a bracket with a number is code, a link or a definition, not a citation.

Every reader takes the raw text, a position and `final` (no more text will come). It returns the end of what it found,
None when it is something else, and WAIT when the text so far leaves that open; so whole texts and streams share it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

WAIT: Final = -1
LONGEST_LINK = 1000

_FENCE = re.compile(r"(`{3,}|~{3,})")
_LINE_PREFIX = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_HALF_BULLET = re.compile(r"[-*+]|\d{1,9}[.)]?")
_DEFINITION = re.compile(r"\[\^?[^\[\]\n]+\]:(?=[ \t\n]|\Z)")
_HALF_DEFINITION = re.compile(r"\[[^\[\]\n]*\]?:?\Z")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_DESTINATION = re.compile(
    r"\([ \t]*(?:<[^<>\n]*>|(?:[^\s()<>\\]|\\.|\((?:[^\s()\\]|\\.)*\))*)"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\)"
)
_ESCAPED = re.compile(r"\\(?:.|\Z)")
_TAG = re.compile(r"<(?:[A-Za-z/][^<>\n]*|![^<>]*|https?:[^<>\s]*)>")
_VERBATIM_TAG = re.compile(r"<(code|pre|kbd|samp|script|style|math)\b[^<>]*>", re.IGNORECASE)
_URL = re.compile(r"(?:https?|ftp)://[^\s<>`，。；、）】]*")
_LABEL = re.compile(r"\[(?!\^)[^\[\]\n]*\]")
_HALF_LABEL = re.compile(r"\[[^\[\]\n]*\Z")
_PAIRED = re.compile(r"\\.|[\[\]]|\n\n", re.DOTALL)
INDENTED = re.compile(r"(?: {4}|\t)[ \t]*\S[^\n]*")
LIST_LINE = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
HALF_LIST_LINE = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)]?)?[ \t]*\Z")
URL_START = re.compile(r"(?:https?|ftp)://")
_URL_MARKER = re.compile(r"[\[［【]\d+(?:[ \t]*[,\-–][ \t]*\d+)*[\]］】](?:[\[［【]\d+[\]］】])*[.,;:!?)\"'*_]*\Z")


def fence_end(raw: str, line: int, final: bool) -> int | None:
    """The end of the fenced code block that opens on the line at `line`: after its closing fence, or the whole rest."""
    prefix = _LINE_PREFIX.match(raw, line)
    start = prefix.end() if prefix else line
    if not final and (raw[start:] in ("", "`", "``", "~", "~~") or _HALF_BULLET.fullmatch(raw, start)):
        return WAIT
    fence = _FENCE.match(raw, start)
    if fence is None:
        return None
    newline = raw.find("\n", fence.end())
    if newline < 0:
        if not final:
            return WAIT
        return None if "`" in raw[fence.end() :] else len(raw)
    if fence.group()[0] == "`" and "`" in raw[fence.end() : newline]:
        return None
    closing = re.compile(rf"^[ \t>]*{re.escape(fence.group()[0])}{{{len(fence.group())},}}[ \t]*$", re.MULTILINE)
    found = closing.search(raw, newline + 1)
    if found is None or (found.end() == len(raw) and not final):
        return len(raw) if final else WAIT
    return found.end()


def definition_end(raw: str, line: int, final: bool) -> int | None:
    """The end of a line that defines a reference or a footnote: `[1]: http...`, `[^1]: ...`."""
    start = line
    while start < len(raw) and raw[start] in " \t" and start - line < 3:
        start += 1
    if start == len(raw) and not final:
        return WAIT
    if not final and _HALF_DEFINITION.match(raw, start):
        return WAIT
    if _DEFINITION.match(raw, start) is None:
        return None
    newline = raw.find("\n", start)
    if newline < 0:
        return len(raw) if final else WAIT
    return newline


def code_span_end(raw: str, start: int, final: bool) -> int | None:
    """The end of a code span: a run of backticks up to the next run of equal length in the same paragraph."""
    run = start
    while run < len(raw) and raw[run] == "`":
        run += 1
    if run == len(raw) and not final:
        return WAIT
    blank = _BLANK_LINE.search(raw, run)
    limit = blank.start() if blank else len(raw)
    for ticks in re.compile("`+").finditer(raw, run, limit):
        if len(ticks.group()) == run - start:
            return WAIT if ticks.end() == len(raw) and not final else ticks.end()
    return None if final or blank else WAIT


def tag_end(raw: str, start: int, final: bool) -> int | None:
    """The end of an HTML tag, comment or autolink; with its content for tags that hold code."""
    if start + 1 == len(raw) and not final:
        return WAIT
    if raw[start : start + 4] == "<!--":
        return _until(raw, start, "-->", final)
    tag = _TAG.match(raw, start)
    if tag is None:
        follows = raw[start + 1 : start + 2]
        is_open = bool(follows) and ((follows.isascii() and follows.isalpha()) or follows in "/!")
        return WAIT if not final and is_open and not re.search(r"[<>\n]", raw[start + 1 :]) else None
    verbatim = _VERBATIM_TAG.match(raw, start)
    if verbatim is None:
        return tag.end()
    closing = re.compile(rf"</{verbatim.group(1)}[ \t]*>", re.IGNORECASE).search(raw, verbatim.end())
    inline = verbatim.group(1).lower() not in ("pre", "script", "style")
    blank = _BLANK_LINE.search(raw, verbatim.end(), closing.start() if closing else len(raw)) if inline else None
    if closing and not blank:
        return closing.end()
    return tag.end() if final or blank else WAIT


def escape_end(raw: str, start: int, final: bool) -> int | None:
    r"""The end of an escaped character, or of a formula in `\[...\]` or `\(...\)`."""
    if start + 1 == len(raw):
        return start + 1 if final else WAIT
    close = {"[": "\\]", "(": "\\)"}.get(raw[start + 1])
    if close is None:
        return start + 2
    found = raw.find(close, start + 2)
    blank = _BLANK_LINE.search(raw, start + 2)
    if found >= 0 and (blank is None or found < blank.start()):
        return found + 2
    return start + 2 if final or blank else WAIT


def formula_end(raw: str, start: int, final: bool) -> int | None:
    """The end of a formula between double dollars."""
    return _until(raw, start, "$$", final, skip=2)


def url_end(raw: str, start: int, final: bool) -> int | None:
    """The end of a bare address. A marker glued to its end is a citation, unless the address has a query."""
    found = _URL.match(raw, start)
    if found is None:
        return None
    if found.end() == len(raw) and not final:
        return WAIT
    glued = _URL_MARKER.search(found.group())
    if glued and "?" not in found.group():
        return start + glued.start()
    return found.end()


def destination_end(raw: str, start: int, final: bool) -> int | None:
    """The end of a link's `(destination "title")`; None when the parenthesis is only a parenthesis."""
    found = _DESTINATION.match(raw, start, start + LONGEST_LINK)
    if found:
        return found.end()
    if final or len(raw) - start >= LONGEST_LINK:
        return None
    rest = _ESCAPED.sub("", raw[start:])
    return WAIT if "\n" not in rest and (")" not in rest or rest.count("(") > rest.count(")")) else None


def link_end(raw: str, start: int, final: bool, pairs: BracketPairs) -> int | None:
    """The end of `[text](destination)` or `[text][reference]` that opens at `start`; text may hold brackets."""
    close = pairs.closing(raw, start)
    if close is None:
        return None if final or len(raw) - start >= LONGEST_LINK or "\n\n" in raw[start:] else WAIT
    if close + 1 == len(raw):
        return None if final else WAIT
    if raw[close + 1] == "(":
        return destination_end(raw, close + 1, final)
    # `[^1][2]` is a footnote and a marker, no link.
    if raw[close + 1] == "[" and not raw.startswith("[^", start):
        return label_end(raw, close + 1, final)
    return None


def label_end(raw: str, start: int, final: bool) -> int | None:
    """The end of a link's `[reference]`; None for a footnote and for a bracket that holds brackets."""
    if not final and _HALF_LABEL.match(raw, start):
        return WAIT
    label = _LABEL.match(raw, start)
    return label.end() if label else None


@dataclass(slots=True)
class BracketPairs:
    """Where each square bracket closes, read once while the text grows: what never closes costs no second look."""

    _closing: dict[int, int] = field(default_factory=dict)
    _open: list[int] = field(default_factory=list)
    _position: int = 0

    def closing(self, raw: str, start: int) -> int | None:
        """Where the bracket at `start` closes, on the same paragraph; None when it does not (yet), or too far away."""
        self._read(raw)
        close = self._closing.get(start)
        return close if close is not None and close - start < LONGEST_LINK else None

    def _read(self, raw: str) -> None:
        for found in _PAIRED.finditer(raw, self._position):
            self._position = found.end()
            if found.group() == "[":
                self._open.append(found.start())
            elif found.group() == "\n\n":
                self._open.clear()
            elif found.group() == "]" and self._open:
                self._closing[self._open.pop()] = found.start()
        # An escape or a blank line may go on in the next piece.
        self._position = max(self._position, len(raw) - raw.endswith(("\\", "\n")))


def _until(raw: str, start: int, close: str, final: bool, skip: int = 1) -> int | None:
    found = raw.find(close, start + skip)
    # A stream gives up at a blank line; so does a whole text, whatever stands behind it.
    blank = _BLANK_LINE.search(raw, start, found if found >= 0 else len(raw))
    if found >= 0 and not blank:
        return found + len(close)
    return None if final or blank else WAIT
