"""Roles: who did it to whom. The same verb between the same two names, exchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rag_app.types import Check, Span
from rag_app.verify.checks.base import Aligned
from rag_app.verify.words import Word, is_function_word, listed

_PASSIVE = listed("by was were been von wurde par été por fue")
_AGENT = listed("by von durch par por")
_REACH = 6
_QUOTES = '"“”„«»:'


def check_roles(aligned: Aligned) -> Iterator[Check]:
    """Fail where "A verb B" meets "B verb A" in the best sentence, with both active or both passive, or where it meets
    "A was verb by B".
    """
    ours, theirs = _names(aligned.words), set(_names(aligned.best))
    first_of = {word.stem: index for index, word in reversed(list(enumerate(aligned.best)))}
    counts = Counter(word.stem for word in aligned.best)
    for left, right in _near_pairs(ours):
        a, b = aligned.words[left].stem, aligned.words[right].stem
        if a == b or a not in first_of or b not in first_of:
            continue
        if any(
            mark in aligned.claim[aligned.words[left].span.end : aligned.words[right].span.start] for mark in _QUOTES
        ):
            continue
        place_a, place_b = first_of[a], first_of[b]
        if place_a not in theirs or place_b not in theirs:
            continue
        if not _close(aligned.words, left, right) or counts[a] + counts[b] != 2:
            continue
        first, last = min(place_a, place_b), max(place_a, place_b)
        if place_a < place_b and not _close(aligned.best, first, last):
            continue
        verbs = _between(aligned.words, left, right) & _between(aligned.best, first, last)
        if place_a < place_b:
            is_turned = _has_agent(aligned.words, left, right) != _has_agent(aligned.best, first, last)
        else:
            is_turned = _passive(aligned.words, left, right) == _passive(aligned.best, first, last)
        if verbs and is_turned:
            claim_span = Span(aligned.words[left].span.start, aligned.words[right].span.end)
            source_span = Span(aligned.best[first].span.start, aligned.best[last].span.end)
            yield aligned.check("role", "fail", claim_span, source_span)
            return


def _near_pairs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of places that are near enough for one verb between them, in order."""
    for number, left in enumerate(places):
        for right in places[number + 1 : number + 1 + 2 * _REACH]:
            if right - left <= 2 * _REACH:
                yield left, right


def _close(words: Sequence[Word], left: int, right: int) -> bool:
    """Is one verb all that stands between the names: at most one content word and two of grammar?"""
    between = [word for word in words[left + 1 : right] if not word.text[0].isupper()]
    return len(between) <= 3 and sum(not is_function_word(word.stem) for word in between) == 1


def _names(words: Sequence[Word]) -> list[int]:
    return [i for i, word in enumerate(words) if word.text[0].isupper() and not is_function_word(word.stem)]


def _between(words: Sequence[Word], first: int, last: int) -> set[str]:
    """Lower-case content stems between two places: where a verb would be."""
    between = words[first + 1 : last]
    return {word.stem for word in between if word.text[0].islower() and not is_function_word(word.stem)}


def _has_agent(words: Sequence[Word], first: int, last: int) -> bool:
    """ "A was followed by B"; "A was following B" is active."""
    return words[last - 1].text.casefold() in _AGENT and _passive(words, first, last - 1)


def _passive(words: Sequence[Word], first: int, last: int) -> bool:
    return any(word.text.casefold() in _PASSIVE for word in words[first + 1 : last])
