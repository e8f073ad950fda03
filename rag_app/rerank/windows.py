"""Pieces of a text that a model with a limited window can read whole."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

_WORD = re.compile(r"\S+\s*")


def text_windows(text: str, count_tokens: Callable[[str], int], max_tokens: int | None) -> list[str]:
    """Overlapping windows of at most about `max_tokens` tokens that cover the text; the text itself when it fits.

    Windows end at words and overlap by a quarter. A text without spaces is cut by characters.
    """
    if not text.strip():
        return []
    # No tokenizer makes more tokens than a text has bytes: the short need not be counted.
    if max_tokens is None or len(text.encode("utf-8", "surrogatepass")) < max_tokens - 2:
        return [text]
    total = count_tokens(text)
    if total <= max_tokens:
        return [text]
    size = max(1, int(len(text) * max_tokens / total * 0.9))
    step = max(1, size * 3 // 4)
    bounds = [match.start() for match in _WORD.finditer(text)] + [len(text)]
    windows: list[str] = []
    start = 0
    while True:
        end = min(len(text), start + size)
        if end < len(text):
            end = max((b for b in bounds if start + size // 2 < b <= end), default=end)
        windows.append(text[start:end])
        if end >= len(text):
            return windows
        reach = min(start + step, end)
        start = max((b for b in bounds if start < b <= reach), default=reach)


def best(scores: Iterable[float], *, empty: float = 0.0) -> float:
    """The greatest score of a passage's windows; NaN when one is NaN, which `max` could pass over; `empty` of none."""
    known = list(scores)
    return math.nan if any(map(math.isnan, known)) else max(known, default=empty)
