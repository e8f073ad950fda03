"""Citation markers in an answer: found, checked against the number of sources, phantoms stripped and the text tidied.

One scanner reads whole texts and streams alike: what it has let go never changes, wherever the pieces were cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rag_app.cite import indexing, syntax
from rag_app.cite.brackets import (
    BRACKET,
    HALF_BRACKET,
    HALF_JOIN,
    HALF_WRAPPER,
    JOIN,
    LONGEST_RUN,
    WRAPPERS,
    Bracket,
    Marker,
    ParsedText,
    read_integers,
    read_numbers,
    renumber,
)
from rag_app.cite.syntax import WAIT
from rag_app.cite.tidy import TidyWriter
from rag_app.types import Span

_SPECIAL = re.compile(r"[`\[［【<\\(（*^\n]|\$\$|(?:https?|ftp)://")
_HALF_SPECIAL = re.compile(r"(?:h|ht|htt|https?|https?:|https?:/|f|ft|ftp|ftp:|ftp:/|\$)\Z")


@dataclass(frozen=True, slots=True)
class _Run:
    """Brackets that stand together, and where the last one ends in the raw text."""

    brackets: list[Bracket]
    end: int


_UNCERTAIN = _Run([], WAIT)


@dataclass(slots=True)
class StreamParser:
    """Reads an answer piece by piece: `feed` and `close` return what became certain, as a `ParsedText` of the news.

    The texts of all of them, joined, are `parse_markers(whole, n).text`; spans count from the start of the answer.
    """

    n: int
    _raw: str = ""
    _position: int = 0
    _line_start: bool = True
    _in_list: bool = False
    _after_blank: bool = True
    _writer: TidyWriter = field(default_factory=TidyWriter)
    _markers: list[Marker] = field(default_factory=list)
    _phantoms: list[str] = field(default_factory=list)
    _told: tuple[int, int] = (0, 0)
    _pairs: syntax.BracketPairs = field(default_factory=syntax.BracketPairs)

    def feed(self, piece: str) -> ParsedText:
        """Take the next piece; return the text, markers and phantoms that no later piece can change."""
        self._raw += piece
        self._scan(final=False)
        return self._news()

    def close(self) -> ParsedText:
        """The rest, now that no more text will come."""
        self._scan(final=True)
        self._writer.close()
        return self._news()

    def _news(self) -> ParsedText:
        text = self._writer.take()
        markers, phantoms = self._markers[self._told[0] :], self._phantoms[self._told[1] :]
        self._told = (len(self._markers), len(self._phantoms))
        return ParsedText(text, tuple(markers), tuple(phantoms))

    def _scan(self, *, final: bool) -> None:
        raw = self._raw
        while self._position < len(raw):
            if self._line_start:
                end = self._read_line_start(final)
                if end == WAIT:
                    return
                self._line_start = False
                if end is not None:
                    self._pass(end)
                    continue
            special = _SPECIAL.search(raw, self._position)
            stop = special.start() if special else len(raw)
            if special is None and not final:
                half = _HALF_SPECIAL.search(raw, self._position)
                stop = half.start() if half else stop
            self._pass(stop)
            if special is None:
                return
            if not self._read_special(final):
                return

    def _pass(self, end: int) -> None:
        self._writer.write(self._raw[self._position : end])
        self._position = end

    def _read_line_start(self, final: bool) -> int | None:
        """Whole lines in which no marker can stand: fences, definitions, indented code."""
        raw, position = self._raw, self._position
        for reader in (syntax.fence_end, syntax.definition_end):
            end = reader(raw, position, final)
            if end is not None:
                return end
        line_end = raw.find("\n", position)
        blank_so_far = not raw[position : line_end if line_end >= 0 else len(raw)].strip(" \t")
        if blank_so_far and line_end < 0 and not final:
            return WAIT
        if blank_so_far:
            self._after_blank = True
            return None
        if not final and syntax.HALF_LIST_LINE.match(raw, position):
            return WAIT
        code = syntax.INDENTED.match(raw, position)
        if code and self._after_blank and not self._in_list:
            return code.end() if final or code.end() < len(raw) else WAIT
        self._in_list = bool(syntax.LIST_LINE.match(raw, position)) or (self._in_list and raw[position] in " \t")
        self._after_blank = False
        return None

    def _read_special(self, final: bool) -> bool:
        """Read what stands at a special character; False when more text is needed to know what it is."""
        raw, position = self._raw, self._position
        char = raw[position]
        if char == "\n":
            self._pass(position + 1)
            self._line_start = True
            return True
        if char in "(（*^<[" and (wrapped := self._read_wrapped(final)) is not None:
            return wrapped
        if char in "[［【":
            return self._read_bracket(final)
        readers = {"`": syntax.code_span_end, "<": syntax.tag_end, "\\": syntax.escape_end, "$": syntax.formula_end}
        reader = readers.get(char, syntax.url_end if syntax.URL_START.match(raw, position) else None)
        end = reader(raw, position, final) if reader else None
        if end == WAIT:
            return False
        if end is None:
            end = position + 1
            while char == "`" and end < len(raw) and raw[end] == "`":
                end += 1
        self._pass(end)
        return True

    def _read_wrapped(self, final: bool) -> bool | None:
        """A run of phantoms alone in parentheses or emphasis goes with what wraps it; None when it is not that."""
        raw, position = self._raw, self._position
        if not final and HALF_WRAPPER.match(raw, position):
            return False
        for opening, closing in WRAPPERS:
            found = opening.match(raw, position)
            if found is None:
                continue
            run = self._read_run(found.end(), final)
            if run is None:
                continue
            if run is _UNCERTAIN:
                return False
            end = run.end
            if any(bracket.numbers for bracket in run.brackets):
                continue
            if not final and closing.startswith(raw[end:]) and len(raw) - end < len(closing):
                return False
            if raw.startswith(closing, end):
                self._remove(run.brackets, end + len(closing))
                return True
        return None

    def _read_bracket(self, final: bool) -> bool:
        raw, position = self._raw, self._position
        if (interval := indexing.interval_end(raw, position)) is not None:
            self._pass(interval)
            return True
        run = self._read_run(position, final)
        if run is _UNCERTAIN:
            return False
        if run is not None:
            self._write_run(run.brackets, run.end)
            return True
        if raw[position] == "[":
            end = syntax.link_end(raw, position, final, self._pairs)
            if end == WAIT:
                return False
            numeric = BRACKET.match(raw, position)
            if end is None and numeric:
                end = self._chain_end(numeric.end(), final)
                if end == WAIT:
                    return False
            if end is not None:
                self._pass(end)
                return True
        self._pass(position + 1)
        return True

    def _chain_end(self, end: int, final: bool) -> int:
        """The end of `[1][2]` after a name: all its brackets are one index expression; WAIT while one may follow."""
        raw = self._raw
        while raw.startswith("[", end) and (found := BRACKET.match(raw, end)):
            end = found.end()
        half = end == len(raw) or (raw[end] == "[" and HALF_BRACKET.match(raw, end))
        return WAIT if half and not final else end

    def _read_run(self, position: int, final: bool) -> _Run | None:
        """The brackets of one run (`[1][3]`, `[1], [2] and [3]`) and its end; None when there is no marker."""
        raw = self._raw
        brackets: list[Bracket] = []
        end, start, join = position, position, ""
        while len(brackets) < LONGEST_RUN:
            found = BRACKET.match(raw, start)
            if found is None:
                if not final and HALF_BRACKET.match(raw, start):
                    return _UNCERTAIN
                break
            kind = self._kind(found, bool(brackets), final)
            if kind == WAIT:
                return _UNCERTAIN
            if not kind:
                break
            brackets.append(read_numbers(found, self.n, join))
            end = found.end()
            joined = JOIN.match(raw, end)
            start = joined.end() if joined else end
            join = raw[end:start]
            if not final and HALF_JOIN.match(raw, end):
                return _UNCERTAIN
        return _Run(brackets, end) if brackets else None

    def _kind(self, found: re.Match[str], follows: bool, final: bool) -> int:
        """1 when the bracket is a marker, 0 when it is a link or an index, WAIT when that is not certain yet."""
        raw, start, end = self._raw, found.start(), found.end()
        if end == len(raw) and not final:
            return WAIT
        after = raw[end : end + 1]
        if found.group()[0] == "[":
            if after == "(":
                link = syntax.destination_end(raw, end, final)
                if link is not None:
                    return WAIT if link == WAIT else 0
            if after == "[" and not BRACKET.match(raw, end):
                label = syntax.label_end(raw, end, final)
                if label is not None:
                    return WAIT if label == WAIT else 0
            if not follows:
                if (
                    not final
                    and len(raw) - end < indexing.LOOKAHEAD
                    and "\n" not in raw[end:]
                    and indexing.names_before(raw, start)
                ):
                    return WAIT
                if indexing.is_index(raw, start, end, read_integers(found)):
                    return 0
        return 1

    def _write_run(self, brackets: list[Bracket], end: int) -> None:
        if not any(bracket.numbers for bracket in brackets):
            self._remove(brackets, end)
            return
        first = True
        for bracket in brackets:
            self._phantoms.extend(bracket.phantoms)
            if bracket.numbers:
                if not first:
                    self._writer.write(bracket.join)
                start = self._writer.write_whole(bracket.text)
                self._markers.append(Marker(bracket.numbers, Span(start, start + len(bracket.text))))
                first = False
        self._position = end

    def _remove(self, brackets: list[Bracket], end: int) -> None:
        for bracket in brackets:
            self._phantoms.extend(bracket.phantoms)
        self._writer.remove()
        self._position = end


def parse_markers(text: str, n: int) -> ParsedText:
    """The answer with every marker read and every number outside 1..n stripped and recorded.

    `[1]`, `[1][3]`, `[1, 3]`, `[1-3]` and full-width brackets are markers; brackets in code, links, images,
    definitions, footnotes and index expressions are text. Valid numbers in the bracket of a phantom stay.
    """
    parser = StreamParser(n)
    first, last = parser.feed(text), parser.close()
    return ParsedText(first.text + last.text, first.markers + last.markers, first.phantoms + last.phantoms)


__all__ = ["Marker", "ParsedText", "StreamParser", "parse_markers", "renumber"]
