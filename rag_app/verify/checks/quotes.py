"""Verbatim quotations: are they in the source word for word, and from the speaker the claim names?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_app.types import Check, Span
from rag_app.verify.checks.base import Aligned
from rag_app.verify.words import is_function_word, words_of

_QUOTE = re.compile(r"[\"“„«]([^\"“”„«»]{12,}?)[\"”“»]")
_SAYING = re.compile(
    r"\b(?:said|says|told|announced|stated|wrote|declared|added|claimed|explained|argued|noted|sagte|dit|dijo)\b", re.I
)
_CLAUSE = re.compile(r"[.;!?]|,?\s+and\s+|,?\s+und\s+|\n")

_FAR = 300
"""No one is named as the speaker further than so many characters from the quotation."""


def check_quotes(aligned: Aligned) -> Iterator[Check]:
    """Pass for a quotation that the source holds; fail when its speaker in the claim is not the one beside it there."""
    for match in _QUOTE.finditer(aligned.claim):
        words = r"\W+".join(re.escape(word) for word in re.findall(r"\w+", match.group(1)))
        found = re.search(words, aligned.source.text, re.IGNORECASE)
        ours = Span(*match.span(1))
        if found is None:
            yield aligned.check("quote", "unknown", ours, None)
            continue
        speaker = _speaker(aligned.claim, match.start(), match.end())
        around, place = _clause_around(aligned.source.text, found.start(), found.end())
        there = {word.stem for word in words_of(around)}
        elsewhere = aligned.source.postings.keys()
        beside = {word.stem for word in words_of(_clause_around(aligned.claim, *match.span(1))[0])}
        other = speaker and not speaker & there and speaker <= elsewhere and not beside <= there
        if other and _SAYING.search(around):
            yield aligned.check("speaker", "fail", ours, place)
        else:
            yield aligned.check("quote", "pass", ours, Span(*found.span()))


def _speaker(claim: str, start: int, end: int) -> set[str]:
    """Content stems of the words around the claim's quotation, if they say that someone spoke."""
    around = claim[max(0, start - _FAR) : start] + " " + claim[end : end + _FAR]
    if not _SAYING.search(around):
        return set()
    words = words_of(_SAYING.sub(" ", around))
    return {word.stem for word in words if not is_function_word(word.stem)}


def _clause_around(text: str, start: int, end: int) -> tuple[str, Span]:
    """What stands beside the quotation up to the end of its clause on both sides, and the span of that clause."""
    after = _CLAUSE.search(text, end + 1, end + _FAR)
    last = after.start() if after else min(len(text), end + _FAR)
    before = [m.end() for m in _CLAUSE.finditer(text, max(0, start - 120), start)]
    first = before[-1] if before else max(0, start - 120)
    return text[first:start] + " " + text[end:last], Span(first, last)
