"""Sentence spans: nupunkt's boundaries, corrected where it is blind, and the lines that are no running text.

nupunkt knows English abbreviations, decimals and quotes. What it does not know stands here: the stops of other scripts,
lists, headings, tables, lines that were broken on purpose, ordinals and abbreviations of other languages.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from rag_app.types import Span

_CLOSERS = r"[\"'’”»›)\]}」』）】》〉〕]*+"
# The stops of CJK, Devanagari, Urdu, Arabic, Ethiopic, Armenian, Khmer, Burmese; Japanese quotes go on with "to".
_FOREIGN_STOP = re.compile(r"[。！？｡।॥۔؟።։។။]+" + _CLOSERS + r"(?![とっ、，。！？])\s*")
# Text that was printed as a Python or JSON string shows its line ends as two characters.
_WRITTEN_NEWLINE = re.compile(r"(?:(?<=[.!?:…)\"'])(?:\\r)?\\n|\\n\\n)(?:\\[nr])*\s*")
_LINE = re.compile(r"[^\n]*\n?")
_ALONE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\||```|~~~|[-=*_]{3,}[ \t]*$)")
_STRUCTURE = re.compile(
    _ALONE.pattern + r"|[ \t]*(?:[-*+•‣▪·–—][ \t]|(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)][ \t]|>)",
)
_MARKER = re.compile(
    r"[ \t]*(?:>[ \t]*)*(?:[-*+•‣▪·–—][ \t]+)?(?:#{1,6}[ \t]+)?\(?(?:\d+(?:\.\d+)*|[A-Za-z]|[ivxIVX]{1,5})[.)]\s*"
)
_INNER_DOT = re.compile(r"(?:^|[\s(\[\"'])(?:\w{1,3}\.)+\w{1,3}\.$")
_BEFORE_NUMBER = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]?\w*(?:str|Str)|Nr|nr|No|no|Nos|Abs|Art|art|S|p|pp|Fig|Figs|fig|Sec|Sect|Eq|Eqs|Vol|vol|Ch|ch|cap|núm|n|Az|Rn|Ziff"
    r"|Kap|Tab|Abb|Bd|ca|cf|vgl|Vgl|approx|min|max|Ref|Refs|Ex|Cl|para|paras|Para|Sch)\.$"
)
_ORDINAL = re.compile(r"(?:^|[\s(])(?:3[01]|[12]?\d)\.$")
_MONTH = re.compile(
    r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|tammi|helmi|leden|únor|stycz|lut|sije|januar|marts|maj|okto)\w*|Jahrhundert|Auflage|Quartal"
)
_DAY = re.compile(rf"[ \t]*(?:3[01]|[12]?\d)\.[ \t]+(?:{_MONTH.pattern})\b")  # "am\n28. Oktober" is no list
_SPEECH = re.compile(r"(?:[!?…][\"'’”»)\]]+|…|\.\.\.)$")
# Text in lower case: nupunkt takes a year or an amount at a sentence's end for an abbreviation.
_STOP_THEN_LOWER = re.compile(r"\.[\"'’”)]*+\s+(?=[a-z])")
_NUMBER_BEFORE = re.compile(r"(?:\b\d{4}|\d%|\d[.,]\d+|[\d%][)\]])$")
_WINDOW = 40_000
_FENCES = ("```", "~~~")
_RAGGED = 0.85  # in a proportional font lines of one width differ in characters: the room must be clear
_WIDEST = 160  # a line longer than this was not wrapped by hand: its end is meant


def sentence_spans(text: str) -> list[Span]:
    """Spans of the sentences of `text`, in order, disjoint, without space at their ends.

    Together they hold every non-space character. A sentence never crosses a blank line; a list item, a heading, a table
    row and a line that ends early are sentences of their own. The empty text has none. Time is linear in the length.
    """
    if not text or text.isspace():
        return []
    hard, rows = _line_breaks(text)
    soft = {place for place in _nupunkt_breaks(text) if _is_boundary(text, place)}
    for match in _STOP_THEN_LOWER.finditer(text):
        if _NUMBER_BEFORE.search(text[max(0, match.start() - 12) : match.start()]):
            soft.add(match.end())
    if not text.isascii():
        soft.update(match.end() for match in _FOREIGN_STOP.finditer(text))
    if "\\n" in text:
        soft.update(match.end() for match in _WRITTEN_NEWLINE.finditer(text))
    soft -= {place for first, last in rows for place in _within(soft, first, last)} if rows else set()
    return list(_spans(text, sorted(soft | hard | {len(text)}), hard))


def _spans(text: str, breaks: list[int], hard: set[int]) -> Iterator[Span]:
    """The trimmed pieces between the breaks; one without a letter or digit joins the piece before it on its line."""
    start, last = 0, None
    for stop in breaks:
        piece = text[start:stop]
        body = piece.strip()
        if body:
            lead = len(piece) - len(piece.lstrip())
            span = Span(start + lead, start + lead + len(body))
            if last is not None and start not in hard and len(body) < 8 and not any(map(str.isalnum, body)):
                last = Span(last.start, span.end)
            else:
                if last is not None:
                    yield last
                last = span
        start = stop
    if last is not None:
        yield last


def _nupunkt_breaks(text: str) -> Iterator[int]:
    """Where nupunkt begins sentences."""
    import nupunkt

    start = 0
    while start < len(text):
        # It is quadratic in the length of a stretch without space: such a text gets small windows.
        spaced = text.count(" ", start, start + _WINDOW) * 50 > _WINDOW
        window = _WINDOW if spaced else _WINDOW // 10
        stop = min(len(text), start + window)
        # A window's last boundaries may owe to its end; the next window begins at the last one that cannot.
        sure = len(text) if stop == len(text) else stop - window // 10
        found = [start + first for first, _ in nupunkt.sent_spans(text[start:stop]) if 0 < first < sure - start]
        yield from found
        if stop == len(text):
            return
        start = found[-1] if found else sure


def _is_boundary(text: str, place: int) -> bool:
    """Whether nupunkt's boundary before `place` is one; it does not know lists, other languages, and cut quotes."""
    if place <= 0 or place >= len(text):
        return False
    # Enough context for the longest pattern; a whole line would make long lines quadratic.
    before = text[max(0, place - 40) : place].rstrip()
    ended = max(before.rfind("\n"), before.rfind("\\n") + 1)
    if (ended > 0 or place <= 40) and len(before) - ended < 25 and _MARKER.fullmatch(before, ended + (ended > 0)):
        return False
    first = text[place]
    if first.islower():
        return not (_SPEECH.search(before) or _INNER_DOT.search(before) or _ORDINAL.search(before))
    if first.isdigit():
        return not (_BEFORE_NUMBER.search(before) or _INNER_DOT.search(before))
    return not (before[-2:-1].isdigit() and _ORDINAL.search(before) and _MONTH.match(text, place))


def _within(places: set[int], first: int, last: int) -> list[int]:
    return [place for place in range(first + 1, last) if place in places]


def _line_breaks(text: str) -> tuple[set[int], list[tuple[int, int]]]:
    """Where lines end sentences (starts of the next line), and the spans of table rows."""
    hard: set[int] = set()
    rows: list[tuple[int, int]] = []
    block: list[tuple[int, str]] = []
    fence = ""
    for match in _LINE.finditer(text):
        line = match.group()
        mark = line.lstrip()[:3]
        if fence or mark in _FENCES:
            # Each line of fenced code stands alone; the fence ends with its own mark.
            _block_breaks(block, hard)
            block = []
            hard |= {match.start(), match.end()}
            fence = "" if fence == mark else fence or mark
            continue
        if line.strip():
            block.append((match.start(), line.rstrip()))
            if line.lstrip().startswith("|"):
                rows.append(match.span())
            continue
        hard.add(match.end())
        _block_breaks(block, hard)
        block = []
    _block_breaks(block, hard)
    return hard, rows


def _block_breaks(block: list[tuple[int, str]], hard: set[int]) -> None:
    """Add the line ends of one paragraph that end sentences.

    In text wrapped by hand a line ends because the next word did not fit; a line that had room for it was ended on
    purpose. Where most lines had room, the block is no running text and each line stands alone.
    """
    if block:
        hard.add(block[0][0])
    if len(block) < 2:
        return
    width = max(len(line) for _, line in block)
    needed = [
        len(line) + 1 + len(following.split(maxsplit=1)[0]) for (_, line), (_, following) in itertools.pairwise(block)
    ]
    wrapped = 30 <= width <= _WIDEST and sum(length <= width for length in needed) * 2 <= len(needed)
    for ((_, line), (start, following)), length in zip(itertools.pairwise(block), needed, strict=True):
        structured = _STRUCTURE.match(following) and not _DAY.match(following)
        if not wrapped or length <= _RAGGED * width or structured or _ALONE.match(line):
            hard.add(start)
