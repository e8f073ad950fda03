"""What is left behind when a marker is taken out: one space, or none before punctuation, and no empty line."""

from __future__ import annotations

from dataclasses import dataclass, field

_SPACE = " \t\n\u00a0\u2009\u202f\u3000"
_CLOSERS = ".,;:!?…)]}»”’、。，；：！？）】》」』％%"
_OPENERS = "([{«“‘（「『《"


@dataclass(slots=True)
class TidyWriter:
    """Collects cleaned text. White space is held back until it is known whether a removed marker follows it."""

    _news: list[str] = field(default_factory=list)
    _length: int = 0
    _last: str = ""
    _held: str = ""
    _gap: bool = False
    _after: str = ""

    def write(self, text: str) -> None:
        """Add text as it is; its trailing white space waits for what comes next."""
        if not text:
            return
        if self._gap:
            body = text.lstrip(_SPACE)
            self._after += text[: len(text) - len(body)]
            if not body:
                return
            self._close_gap(body[0])
            text = body
        body = text.rstrip(_SPACE)
        if body:
            self._put(self._held + body)
            self._held = text[len(body) :]
        else:
            self._held += text

    def write_whole(self, text: str) -> int:
        """Add text that has no white space at its ends; return where it starts in the cleaned text."""
        self.write(text)
        return self._length - len(text)

    def remove(self) -> None:
        """A marker was taken out here."""
        if self._gap and self._after:
            self._held = self._one_space(self._held, self._after, "x")
            self._after = ""
        self._gap = True

    def close(self) -> None:
        """No more text: settle what was held back."""
        if self._gap:
            if "\n" in self._after:
                self._put(max(self._held, self._after, key=_newlines) if "\n" in self._held else self._after)
        else:
            self._put(self._held)
        self._held, self._after, self._gap = "", "", False

    def take(self) -> str:
        """The text that became certain since the last call."""
        text = "".join(self._news)
        self._news.clear()
        return text

    def _put(self, text: str) -> None:
        if text:
            self._news.append(text)
            self._length += len(text)
            self._last = text[-1]

    def _close_gap(self, following: str) -> None:
        self._put(self._one_space(self._held, self._after, following))
        self._held, self._after, self._gap = "", "", False

    def _one_space(self, before: str, after: str, following: str) -> str:
        if "\n" in before or not (self._last or before):
            # The marker opened its line: the line starts with what followed it, and an empty line goes.
            indent = before if "\n" in before else ""
            return max(indent, after, key=_newlines) if "\n" in after and indent else (indent or after.lstrip(" \t"))
        if "\n" in after:
            return after
        # A percent sign may begin a word ("%s"), and may stand apart from its number: its own space stays.
        closes = following in _CLOSERS and not (after and following in "%％")
        if closes or self._last in _OPENERS:
            return ""
        if before or after:
            return before or after
        return " " if _is_word(self._last) and _is_word(following) else ""


def _newlines(space: str) -> int:
    return space.count("\n")


def _is_word(char: str) -> bool:
    """Whether the character is of a script that sets spaces between words."""
    return char.isalnum() and not ("\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" or char >= "\uf900")
