"""Passages above a model's window: read part by part, so that their end is in the vector too."""

from __future__ import annotations

from collections.abc import Callable


def window_parts(text: str, count_tokens: Callable[[str], int], max_tokens: int) -> list[tuple[str, int]]:
    """The text in parts that the model reads whole, each with its tokens (at most); the text itself when it fits.

    Each part but the last is about as long as the window. Cuts lie between words where there are any.
    """
    # A token has at least one character.
    if len(text) <= max_tokens - 2:
        return [(text, len(text) + 2)]
    parts: list[tuple[str, int]] = []
    rest = text
    while rest:
        size = count_tokens(rest)
        if size <= max_tokens:
            return [*parts, (rest, size)]
        end = len(rest)
        while size > max_tokens and end > 1:
            end = _between_words(rest, max(1, int(0.98 * end * max_tokens / size)))
            size = count_tokens(rest[:end])
        parts.append((rest[:end], size))
        rest = rest[end:].lstrip()
    return parts or [(text, 2)]


def _between_words(text: str, end: int) -> int:
    """The nearest end of a word before `end`; `end` itself where none is near."""
    if end >= len(text) or text[end].isspace():
        return end
    space = max(text.rfind(mark, end // 2, end) for mark in " \n\t")
    return space if space > 0 else end
