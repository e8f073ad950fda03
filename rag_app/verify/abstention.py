"""Abstentions have a check of their own: does the evidence hold what the answer says is missing?"""

from __future__ import annotations

from collections.abc import Sequence

from rag_app.types import Verdict
from rag_app.verify.source import IndexedSource, content_stems
from rag_app.verify.statements import Statement
from rag_app.verify.support import support_of
from rag_app.verify.words import is_function_word, listed, stem, words_of

_TALK = frozenset(
    stem(word)
    for word in listed(
        """provided given source sources document documents passage passages context excerpt
        evidence text information state mention contain provide specify include answer find enough
        know available stated mentioned specified indicate cover details detail question
        insufficient unable regarding not no cannot does do i we don't doesn't
        support answers answered questions question's enough reply sorry couldn't retrieved"""
    )
)
THERE = 0.6
"""From this coverage of its topic on, the evidence speaks of what the answer says is missing."""


def judge_abstention(statement: Statement, sources: Sequence[IndexedSource], level: str) -> Verdict:
    """contradicted when the evidence covers the topic, else not_checkable: an abstention has no evidence to show."""
    words = words_of(statement.words)
    words = [word for word in words if not is_function_word(word.stem)]
    topic = [word for word in words if word.stem not in _TALK and not word.text.casefold().endswith(("n't", "n’t"))]
    text = " ".join(word.text for word in topic)
    if not content_stems(topic):
        return Verdict(statement.claim, "not_checkable", 0.0, level, reason="the abstention names no topic")
    found = [(support_of(text, source), source) for source in sources]
    best = max(found, key=lambda pair: (pair[0].coverage, pair[1].text), default=None)
    if best is None or best[0].coverage < THERE:
        return Verdict(statement.claim, "not_checkable", 0.0, level, reason="the evidence does not speak of it either")
    support, source = best
    evidence = (source.evidence(source.units[support.best]),)
    reason = f"the evidence speaks of it: {text}"
    return Verdict(statement.claim, "contradicted", 0.0, level, evidence, reason=reason)
