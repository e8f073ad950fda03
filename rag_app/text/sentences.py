"""Sentence spans: nupunkt inside paragraphs and lines, our own rules where a text has no full stops."""

from __future__ import annotations

import re

from rag_app.types import Span

_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*")


def sentence_spans(text: str) -> list[Span]:
    """Spans of the sentences of `text`, in order, disjoint, without space at their ends.

    Together they hold every non-space character. A sentence never crosses a blank line. The empty text has none.
    """
    import nupunkt

    spans: list[Span] = []
    for block in _PARAGRAPH.finditer(text):
        for start, end in nupunkt.sent_spans(block.group()):
            piece = block.group()[start:end]
            lead = len(piece) - len(piece.lstrip())
            body = piece.strip()
            if body:
                spans.append(Span(block.start() + start + lead, block.start() + start + lead + len(body)))
    return spans
