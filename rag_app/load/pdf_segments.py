"""The characters of a PDF page as segments: runs on one line without a wide gap, in the order of the file."""

from __future__ import annotations

import ctypes
import math
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
     "\u00a0": " ", "\u2007": " ", "\u202f": " ", "\x02": "-", "\ufffe": "-", "\x00": ""}
)  # fmt: skip
# A glyph without a place in Unicode comes as a control character.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]")
_HYPHENS = "-\u2010\u00ad\x02\ufffe"


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text: its rectangle in points (y downwards) as if it were level, and `page_box` as the page is shown.

    `size`: the usual height of its characters (a superscript does not count). `hyphen`: it ends in a hyphen at the end
    of its line.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    page_box: tuple[float, float, float, float]
    size: float
    turn: int = 0
    hyphen: bool = False

    @property
    def height(self) -> float:
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Frame:
    """How page coordinates (origin at the bottom left) turn into what is shown (origin at the top left)."""

    left: float
    bottom: float
    width: float
    height: float
    rotation: int

    def shown(self, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """The rectangle on the page as a reader sees it."""
        x0, y0, x1, y1 = box[0] - self.left, box[1] - self.bottom, box[2] - self.left, box[3] - self.bottom
        if self.rotation == 90:
            return y0, x0, y1, x1
        if self.rotation == 180:
            return self.width - x1, y0, self.width - x0, y1
        if self.rotation == 270:
            return self.height - y1, self.width - x1, self.height - y0, self.width - x0
        return x0, self.height - y1, x1, self.height - y0


def upright(box: tuple[float, float, float, float], turn: int) -> tuple[float, float, float, float]:
    """The rectangle (page coordinates) of text written at `turn` degrees, as if written level; y grows downwards."""
    x0, y0, x1, y1 = box
    if turn == 90:  # written upwards
        return y0, x0, y1, x1
    if turn == 180:
        return -x1, y0, -x0, y1
    if turn == 270:  # written downwards
        return -y1, -x1, -y0, -x0
    return x0, -y1, x1, -y0


def page_segments(textpage: Any, frame: Frame) -> list[Segment]:
    """The segments of a page in the order of the file."""
    import pypdfium2.raw as raw

    run = _Run(frame)
    segments: list[Segment] = []
    rect = raw.FS_RECTF()
    reference = ctypes.byref(rect)
    turn, fresh = 0, True
    for place in range(raw.FPDFText_CountChars(textpage)):
        code = raw.FPDFText_GetUnicode(textpage, place)
        if code in (10, 13):
            segments += run.close()
            fresh = True
            continue
        if not raw.FPDFText_GetLooseCharBox(textpage, place, reference):
            continue
        box = (rect.left, rect.bottom, rect.right, rect.top)
        c = chr(code)
        if c.isspace():
            run.space()
            fresh = True
            continue
        if fresh:
            angle = raw.FPDFText_GetCharAngle(textpage, place)
            turn, fresh = (round(math.degrees(angle) / 90) * 90) % 360 if angle >= 0 else 0, False
        if not run.takes(box, turn):
            segments += run.close()
        run.add(c, box, turn)
    return segments + list(run.close())


class _Run:
    """The segment that is being read."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._chars: list[str] = []
        self._sizes: list[float] = []
        self._box: tuple[float, float, float, float] | None = None
        self._last: tuple[float, float, float, float] = (0, 0, 0, 0)
        self._turn = 0

    def space(self) -> None:
        if self._chars and self._chars[-1] != " ":
            self._chars.append(" ")

    def takes(self, box: tuple[float, float, float, float], turn: int) -> bool:
        """Whether a character there stands in this run: same direction, same line, no wide gap."""
        if self._box is None:
            return True
        # pdfium names the direction of a word's first character only, so one word may carry two angles.
        if turn != self._turn:
            return False
        a, b = upright(self._last, turn), upright(box, turn)
        size = max(min(a[3] - a[1], b[3] - b[1]), 1.0)
        overlap = min(a[3], b[3]) - max(a[1], b[1])
        gap = max(b[0] - a[2], a[0] - b[2])
        return overlap > 0.3 * size and gap < 1.0 * max(a[3] - a[1], b[3] - b[1])

    def add(self, c: str, box: tuple[float, float, float, float], turn: int) -> None:
        old = self._box
        self._box = box if old is None else (
            min(old[0], box[0]), min(old[1], box[1]), max(old[2], box[2]), max(old[3], box[3])
        )  # fmt: skip
        self._last, self._turn = box, turn
        self._chars.append(c)
        self._sizes.append(box[2] - box[0] if turn in (90, 270) else box[3] - box[1])

    def close(self) -> Iterator[Segment]:
        """The run as a segment, if it holds anything; the next run starts empty."""
        text = "".join(self._chars).strip()
        box, size = self._box, statistics.median_low(self._sizes) if self._sizes else 0.0
        self._chars, self._sizes, self._box = [], [], None
        if text and box is not None:
            hyphen = text[-1] in _HYPHENS
            text = _pairs(text).translate(LIGATURES)
            text = (text[:-1] + "-" if hyphen else text).replace("\u00ad", "")
            text = " ".join(_CONTROLS.sub("", text).split())
            if text:
                yield Segment(text, *upright(box, self._turn), self._frame.shown(box), size, self._turn, hyphen)


def _pairs(text: str) -> str:
    """Surrogate pairs as one character."""
    if not any("\ud800" <= c <= "\udfff" for c in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def page_turn(segments: list[Segment]) -> int:
    """The direction in which most of the page's text runs, in degrees."""
    weights: dict[int, int] = {}
    for segment in segments:
        weights[segment.turn] = weights.get(segment.turn, 0) + len(segment.text)
    return max(sorted(weights), key=lambda turn: weights[turn], default=0)


def without_hyphen(segment: Segment) -> Segment:
    """The same segment without the hyphen at its end."""
    return replace(segment, text=segment.text[:-1], hyphen=False)
