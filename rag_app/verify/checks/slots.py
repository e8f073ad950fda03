"""Substitutions: claim and source say the same words around one place, and other things in it.

The claim's words are aligned with the window's; where one or two words were exchanged for others between words that
agree, the place is a slot. Two names or two numbers in one slot are a conflict.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from rag_app.types import Check, Span
from rag_app.verify.checks.antonyms import are_opposite, compared
from rag_app.verify.checks.base import Aligned
from rag_app.verify.quantities import Quantity, same_value, says
from rag_app.verify.words import Word, is_function_word

_WIDEST = 3
_ALIKE = 0.8
_LONG = 300


class Slot(NamedTuple):
    """The words that stand in one place of the claim and of the window."""

    ours: tuple[Word, ...]
    theirs: tuple[Word, ...]


def slots_of(ours: tuple[Word, ...], theirs: tuple[Word, ...]) -> list[Slot]:
    """The substitutions between the claim's words and others, in order of the claim."""
    # In a long window every frequent word would be tried at each of its places, for every word of the claim.
    matcher = SequenceMatcher(None, [w.stem for w in ours], [w.stem for w in theirs], autojunk=len(theirs) > _LONG)
    codes = matcher.get_opcodes()
    found = []
    for number, (tag, i1, i2, j1, j2) in enumerate(codes):
        if tag != "replace" or i2 - i1 > _WIDEST or j2 - j1 > _WIDEST:
            continue
        before = codes[number - 1] if number else None
        after = codes[number + 1] if number + 1 < len(codes) else None
        agreeing = [
            word
            for code in (before, after)
            if code and code[0] == "equal"
            for word in ours[max(code[1], i1 - 4) : min(code[2], i2 + 4)]
        ]
        sides = sum(bool(code and code[0] == "equal") for code in (before, after))
        matter = sum(not is_function_word(word.stem) for word in agreeing)
        if sides == 2 and matter >= 1 and len(agreeing) >= 3:
            found.append(Slot(ours[i1:i2], theirs[j1:j2]))
    return found


def check_slots(aligned: Aligned) -> Iterator[Check]:
    """Fail for two different names, or two different numbers, in one slot."""
    mine = {word.stem for word in aligned.words}
    for theirs in (aligned.best, aligned.window):
        there = {word.stem for word in theirs}
        for slot in slots_of(aligned.words, theirs):
            left = [word for word in slot.ours if _is_name(word, aligned.claim) and word.stem not in there]
            right = [word for word in slot.theirs if _is_name(word, aligned.source.text) and word.stem not in mine]
            if left and right and not _same_name(left, right):
                yield aligned.check("name", "fail", _cover(left), _cover(right))
                return
            for ours, others in itertools.product(slot.ours, slot.theirs):
                same_size = len(slot.ours) == len(slot.theirs)
                if same_size and are_opposite(ours.stem, others.stem) and not compared(aligned.words, theirs):
                    yield aligned.check("antonym", "fail", ours.span, others.span)
                    return
            if _numbers_differ(slot, aligned):
                yield aligned.check("number in place", "fail", _cover(list(slot.ours)), _cover(list(slot.theirs)))
                return


def _same_name(left: list[Word], right: list[Word]) -> bool:
    """Spelled almost alike ("Alemania", "Alemanía"), or derived ("Africa", "African")?"""
    a, b = ("".join(word.text for word in side).casefold() for side in (left, right))
    return SequenceMatcher(None, a, b, autojunk=False).ratio() >= _ALIKE


def _numbers_differ(slot: Slot, aligned: Aligned) -> bool:
    """One number on each side, and neither says the other within its precision."""
    a, b = ([word for word in side if word.stem[0].isdigit()] for side in slot)
    if len(a) != 1 or len(b) != 1:
        return False
    ours = [q for q in aligned.quantities if _holds(q.span, a[0].span)]
    theirs = [q for q in aligned.source.quantities_in(aligned.window_span) if _holds(q.span, b[0].span)]
    return bool(ours and theirs) and not _agree(ours[0], theirs[0])


def _agree(ours: Quantity, theirs: Quantity) -> bool:
    """The same value, or an exact one inside the claim's bound: of two bounds with other numbers one was exchanged."""
    return same_value(ours, theirs) or (theirs.bound is None and says(ours, theirs))


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _is_name(word: Word, text: str) -> bool:
    """Capitalized, and not because it opens a sentence."""
    before = text[: word.span.start].rstrip()[-1:]
    return word.text[0].isupper() and not is_function_word(word.stem) and before not in ("", ".", "!", "?", "\n")


def _cover(words: list[Word]) -> Span:
    return Span(words[0].span.start, words[-1].span.end)
