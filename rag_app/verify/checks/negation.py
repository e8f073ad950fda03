"""Negation in scope: the same statement, denied on one side only."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence, Set

from rag_app.types import Check, Span
from rag_app.verify.checks.affirming import affirms, is_turned
from rag_app.verify.checks.base import ABOUT, Aligned, touches_any
from rag_app.verify.checks.han import negation_tables
from rag_app.verify.checks.negators import NEGATORS, PHRASE_STARTS, is_negator, phrase_length
from rag_app.verify.quantities import Quantity
from rag_app.verify.words import Word, is_function_word, stem, weight

_TABLES = negation_tables()
_BEHIND_VERB = frozenset(stem(word) for word in _TABLES["behind its verb"].split())
_ARTICLES = frozenset(_TABLES["articles"].split())
_BEHIND_NE = frozenset(stem(word) for word in _TABLES["only behind ne"].split())
_CLAUSE = ",;:()"
_OTHERWISE = re.compile(
    r"\b(?:rul(?:ed|es|ing) out|instead|rather than|no longer|non|without|unlike|except|prevents?|avoid\w*|against|"
    r"outside|free of|until|despite|although|exempt\w*)\b",
    re.IGNORECASE,
)
_SET_OFF = re.compile(r"\s*[=:]\s*(?:0\b|false\b|none\b|off\b|no\b)", re.IGNORECASE)
_EMPTY = ("means", "way")
_SCOPE = 3
_FAR = 100
"""No clause has more words on either side of its negator."""
_PLAIN = frozenset(["not", "never", "cannot", "nicht", "nie", "pas", "jamai", "nunca", "niet", "não", "не"])
SURE = 0.6
SAME, NEARLY_SAME = 0.4, 0.8
"""Both sides share this much of the clause that is denied, by weight, or they speak of two things."""


def check_negation(aligned: Aligned) -> Iterator[Check]:
    """Fail where one side denies what the other says: the first word of matter under a negator stands on the other side
    under none, and the rest of its clause stands there too, so that both speak of one thing.
    """
    if aligned.support.coverage < ABOUT:
        return
    mine = {word.stem: word for word in reversed(aligned.words)}
    numbers = aligned.source.quantities_in(aligned.window_span)
    ours = negated(aligned.words, aligned.claim, {word.stem for word in aligned.window}, aligned.quantities)
    theirs = negated(aligned.window, aligned.source.text, set(mine), numbers)
    there = {word.stem: word for word in reversed(aligned.best)}
    otherwise = bool(ours) and _denies_otherwise(aligned.best, aligned.source.text, aligned.claim)
    denied = {word.stem for words in theirs.values() for word in words}
    for negator, scope in ours.items():
        heads = [word for word in scope if word.stem in there]
        if not heads:
            continue
        if any(_SET_OFF.match(aligned.source.text, there[head.stem].span.end) for head in heads):
            return
        if any(head.stem in denied for head in heads):
            said = {head.stem for head in heads}
            other = next(n for n, words in theirs.items() if any(word.stem in said for word in words))
            yield aligned.check("negation", "pass", negator.span, other.span)
        elif _same_clause(negator, aligned.words, aligned.claim, set(there)) and not otherwise:
            span = _cover(negator, heads[0])
            yield aligned.check("negation", "fail", span, there[heads[0].stem].span)
            return
    plain = [word for word in ours if word.stem in _PLAIN or word.text.casefold().endswith(("n't", "n’t"))]
    if plain and not theirs and aligned.support.coverage >= SURE and not otherwise:
        # The window says nearly all of the claim and denies nothing.
        yield aligned.check("negation", "fail", plain[0].span, aligned.best_span)
        return
    if ours or _denies_otherwise(aligned.words, aligned.claim, aligned.best_span.slice(aligned.source.text)):
        return
    for negator, scope in negated(aligned.best, aligned.source.text, set(mine), numbers).items():
        heads = [word for word in scope if word.stem in mine]
        if not heads or (heads[0] != scope[0] and len(heads) < 2):
            continue
        share = SAME if heads[0] == scope[0] else NEARLY_SAME
        if _same_clause(negator, aligned.best, aligned.source.text, set(mine), share):
            theirs_span = _cover(negator, heads[0])
            yield aligned.check("negation", "fail", mine[heads[0].stem].span, theirs_span)
            return


def _same_clause(negator: Word, words: Sequence[Word], text: str, there: set[str], share: float = SAME) -> bool:
    """Does the other side have this share of the clause that the negator stands in?"""
    inside = [word.stem for word in clause_of(negator, words, text) if not is_function_word(word.stem)]
    inside = [stem for stem in inside if stem not in NEGATORS]
    total = sum(map(weight, inside))
    return total > 0 and sum(weight(stem) for stem in inside if stem in there) >= share * total


def clause_of(word: Word, words: Sequence[Word], text: str) -> list[Word]:
    """The words of the clause around one of `words`."""
    place = bisect.bisect_left(words, word.span.start, key=lambda other: other.span.start)
    first, last = place, place
    while first > max(0, place - _FAR) and not _parted(text, words[first - 1], words[first]):
        first -= 1
    while last + 1 < min(len(words), place + _FAR) and not _parted(text, words[last], words[last + 1]):
        last += 1
    return list(words[first : last + 1])


def _parted(text: str, left: Word, right: Word) -> bool:
    return any(mark in text[left.span.end : right.span.start] for mark in _CLAUSE)


def _denies_otherwise(words: Sequence[Word], text: str, other: str) -> bool:
    """Do the words of `text` deny in a way that the other side lacks: "ruled out", "outside", "non-polluting"?"""
    if not words:
        return False
    turned = {word.span.start for place, word in enumerate(words) if is_turned(words, place)}
    said = {match.group().casefold() for match in _OTHERWISE.finditer(other)}
    found = _OTHERWISE.finditer(text, words[0].span.start, words[-1].span.end)
    return any(match.start() not in turned and match.group().casefold() not in said for match in found)


def negated(
    words: Sequence[Word], text: str, beside: Set[str], numbers: Sequence[Quantity] = ()
) -> dict[Word, list[Word]]:
    """Each negator with the content words in its scope: the next three, up to the end of the clause; none that affirms
    beside a text with the stems `beside`, or that bounds one of the `numbers` of the text ("nicht mehr als 12").
    """
    bounds = [number.bounded_span for number in numbers if number.bound is not None]
    scopes: dict[Word, list[Word]] = {}
    for index, word in enumerate(words):
        if touches_any(bounds, word.span):
            continue
        phrase = phrase_length(words, index) if word.text.casefold() in PHRASE_STARTS else 0
        if not phrase and (not (is_negator(word) or _is_behind_ne(words, index)) or affirms(words, index, beside)):
            continue
        scope: list[Word] = []
        first = index + (phrase or 1 + _means_nothing(words, index))
        last = words[first - 1].span.end
        for other in words[first:]:
            if any(mark in text[last : other.span.start] for mark in _CLAUSE) or len(scope) == _SCOPE:
                break
            last = other.span.end
            if _is_matter(other):
                scope.append(other)
        scopes[word] = scope or _scope_before(words, index, text)
    return scopes


def _means_nothing(words: Sequence[Word], index: int) -> bool:
    """ "By no means", "in no way": the word behind the negator carries no matter."""
    return words[index].stem == "no" and index + 1 < len(words) and words[index + 1].text.casefold() in _EMPTY


def _is_matter(word: Word) -> bool:
    return not is_function_word(word.stem) and word.text.casefold() not in _ARTICLES


def _cover(a: Word, b: Word) -> Span:
    return Span(min(a.span.start, b.span.start), max(a.span.end, b.span.end))


def _scope_before(words: Sequence[Word], index: int, text: str) -> list[Word]:
    """ "Das Museum öffnet montags nicht": what is denied stands before a negator that ends its clause."""
    if words[index].stem not in _BEHIND_VERB:
        return []
    scope: list[Word] = []
    following = words[index].span.start
    for word in reversed(words[max(0, index - 2 * _SCOPE) : index]):
        if any(mark in text[word.span.end : following] for mark in _CLAUSE) or len(scope) == _SCOPE:
            break
        following = word.span.start
        if _is_matter(word):
            scope.append(word)
    return scope


def _is_behind_ne(words: Sequence[Word], index: int) -> bool:
    """ "ne ... plus", "n'a rien": French words that deny only behind "ne"."""
    before = words[max(0, index - 3) : index]
    return words[index].stem in _BEHIND_NE and any(word.text.casefold() in ("ne", "n") for word in before)
