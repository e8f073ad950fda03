"""Parts: an item of an enumeration or a coordinated clause that the source does not speak of at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_app.types import Check, Span
from rag_app.verify.checks.base import Aligned
from rag_app.verify.words import is_function_word, weight, words_of

_SPLIT = re.compile(r",\s+(?:and\s+|or\s+|but\s+)?|\s+(?:and|but)\s+|;\s+", re.IGNORECASE)
_ABOUT = 0.6
"""From this coverage on the rest of the claim is found, so that a part that is not stands out."""
_MATTER = 1.5
"""A part must carry this much weight of its own (a rare word, or two ordinary ones), or it says too little."""


def check_parts(aligned: Aligned) -> Iterator[Check]:
    """Fail for a part of the claim no content word of which stands anywhere in the source."""
    start = 0
    pieces: list[Span] = []
    for match in _SPLIT.finditer(aligned.claim):
        pieces.append(Span(start, match.start()))
        start = match.end()
    pieces.append(Span(start, len(aligned.claim)))
    if len(pieces) < 2 or aligned.support.coverage < _ABOUT:
        return
    for piece in pieces:
        stems = {word.stem for word in words_of(piece.slice(aligned.claim)) if not is_function_word(word.stem)}
        if sum(map(weight, stems)) < _MATTER:
            continue
        if not any(aligned.source.soft_matches(stem) for stem in stems):
            yield aligned.check("part", "fail", piece, None)
            return
