"""Negation in scope: the same statement, denied on one side only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_app.types import Check, Span
from rag_app.verify.checks.base import Aligned
from rag_app.verify.words import NEGATIONS, Word, is_function_word, listed

NEGATORS = NEGATIONS | listed("fail unabl lack refus deni hardly")
_CLAUSE = ",;:()"
_PLAIN = frozenset(["not", "never", "cannot", "nicht", "nie", "pas", "jamai", "nunca"])
_SURE = 0.6
_SET_OFF = re.compile(r"\s*[=:]\s*(?:0\b|false\b|none\b|off\b|no\b)", re.IGNORECASE)
_SCOPE = 3
_ABOUT = 0.5
"""Below this coverage the window may be about something else, and its negators with it."""


def check_negation(aligned: Aligned) -> Iterator[Check]:
    """Fail where a word of the claim stands under a negator and its counterpart in the best sentence does not, or the
    other way round, and enough of the claim stands in that sentence to say that both speak of one thing.
    """
    if aligned.support.coverage < _ABOUT:
        return
    ours = negated(aligned.words, aligned.claim)
    theirs = negated(aligned.window, aligned.source.text)
    there = {word.stem: word for word in reversed(aligned.best)}
    denied = {word.stem for words in theirs.values() for word in words}
    for negator, scope in ours.items():
        heads = [word for word in scope if word.stem in there]
        if not heads:
            continue
        if any(_SET_OFF.match(aligned.source.text, there[head.stem].span.end) for head in heads):
            return
        if not any(head.stem in denied for head in heads):
            span = Span(negator.span.start, heads[0].span.end)
            yield aligned.check("negation", "fail", span, there[heads[0].stem].span)
            return
        other = next(n for n, words in theirs.items() if {w.stem for w in words} & {h.stem for h in heads})
        yield aligned.check("negation", "pass", negator.span, other.span)
    plain = [word for word in ours if word.stem in _PLAIN or word.text.casefold().endswith(("n't", "n’t"))]
    if plain and not theirs and aligned.support.coverage >= _SURE:
        # The window says nearly all of the claim and denies nothing.
        yield aligned.check("negation", "fail", plain[0].span, aligned.best_span)
        return
    if ours:
        return
    mine = {word.stem: word for word in reversed(aligned.words)}
    for negator, scope in negated(aligned.best, aligned.source.text).items():
        heads = [word for word in scope if word.stem in mine]
        if heads and len(heads) >= min(2, len(scope)):
            theirs_span = Span(negator.span.start, heads[0].span.end)
            yield aligned.check("negation", "fail", mine[heads[0].stem].span, theirs_span)
            return


def is_negator(word: Word) -> bool:
    """Does the word deny?"""
    return word.stem in NEGATORS or word.text.casefold().replace("’", "'").endswith("n't")


def negated(words: Sequence[Word], text: str) -> dict[Word, list[Word]]:
    """Each negator with the content words in its scope: the next three, up to the end of the clause."""
    scopes: dict[Word, list[Word]] = {}
    for index, word in enumerate(words):
        if not is_negator(word) or _only(words, index):
            continue
        scope: list[Word] = []
        last = word.span.end
        for other in words[index + 1 :]:
            if any(mark in text[last : other.span.start] for mark in _CLAUSE) or len(scope) == _SCOPE:
                break
            last = other.span.end
            if not is_function_word(other.stem):
                scope.append(other)
        scopes[word] = scope
    return scopes


def _only(words: Sequence[Word], index: int) -> bool:
    """ "not only", "no longer than", "not least": words that look like negation and are none."""
    following = words[index + 1].stem if index + 1 < len(words) else ""
    return following in ("onli", "least", "just", "mere", "doubt")
