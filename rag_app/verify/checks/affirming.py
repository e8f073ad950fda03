"""Negators that deny nothing: bounds ("no more than 12"), double negatives ("not uncommon"), "nothing but"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence, Set

from rag_app.verify.checks.antonyms import are_opposite
from rag_app.verify.checks.negators import is_negator
from rag_app.verify.words import Word, is_function_word, listed, stem, weight

_NOT_ALONE = ("onli", "least", "just", "mere", "doubt")
"""Behind "not" and "no": "not only", "not least", "no doubt"."""
_ALL, _SOME = listed("all everi everyon alle tous todo"), listed("most some mani few half sever meist einig")
""" "Not all" beside "most" says the same."""
_NOTHING = listed("noth none nobodi nobody no-one")
_UN = re.compile(r"(?:un|non)-?(\w{4,})")
_IN = re.compile(
    r"(?:in|im|il|ir|dis)(\w{3,}(?:able|ible|ant|ent|ous|ful|ive|ic|al|ar|ary|ate|ain)"
    r"|legal|direct|correct|complete|perfect|exact|secure|mature|proper|polite|visible|honest|similar|formal)"
)
_VERBS = listed("cover lock load pack tie fold veil wind does dress plug leash ravel")
_TURNED = listed("without ohn san fail unabl lack refus deni")
"""Negators that another one before them turns round: "not without risk", "never failed", "nicht ohne Risiko"."""
_BETWEEN = 3
_RARE = 0.99


def affirms(words: Sequence[Word], index: int, other: Set[str]) -> bool:
    """Does the negator at `index` deny nothing of what the other side, with the stems `other`, says?

    A bound is a denial where the other side has the word of comparison itself ("no more than 12", "more than 12"), and
    a double negative where it has the word denied or the opposite of what is meant ("not uncommon", "rare"). Of two
    negators that turn round ("not without risk") neither denies, whatever the other side says.
    """
    following = words[index + 1 : index + 4]
    if not following:
        return False
    first = following[0].stem
    if first in _NOT_ALONE or (first in _ALL and first not in other and not other.isdisjoint(_SOME)):
        return True
    if words[index].stem in _NOTHING and first == "but":
        return True
    if _turns(words, index) or is_turned(words, index):
        return True
    said = [word.text.casefold() for word in words[index + 1 : index + 2 + _BETWEEN]]
    if ("anything", "but") in itertools.pairwise(said):
        return True
    if len(following) == 3 and following[1].stem == "than" and following[2].stem[0].isdigit():
        return first not in other
    return _is_double(words, index, other)


def is_turned(words: Sequence[Word], index: int) -> bool:
    """Does another negator turn this one round?"""
    return any(_turns(words, before) == index for before in range(max(0, index - 2), index))


def _turns(words: Sequence[Word], index: int) -> int | None:
    """The place of the negator that the one at `index` turns round, at most one word of degree between them."""
    if words[index].stem in _TURNED or not is_negator(words[index]):
        return None
    for place in range(index + 1, min(index + 3, len(words))):
        if words[place].stem in _TURNED:
            return place
        if not is_function_word(words[place].stem) and not words[place].text.endswith("ly"):
            return None
    return None


def _is_double(words: Sequence[Word], index: int, other: Set[str]) -> bool:
    """Is the word denied itself a denial ("not uncommon"), or one whose opposite the other side has ("not open" beside
    "closed")?
    """
    for word in words[index + 1 : index + 2 + _BETWEEN]:
        base = without_prefix(word.text)
        if base is not None:
            return word.stem not in other and not any(are_opposite(base, said) for said in other - {word.stem})
        if not is_function_word(word.stem) and not word.text.endswith("ly"):
            return word.stem not in other and any(are_opposite(word.stem, said) for said in other)
    return False


def without_prefix(word: str) -> str | None:
    """The stem of the adjective that a prefix denies ("uncommon", "impossible"); None for any other word."""
    match = _UN.fullmatch(word.casefold()) or _IN.fullmatch(word.casefold())
    if match is None or stem(match[1]) in _VERBS or weight(stem(match[1])) > _RARE:
        return None
    return stem(match[1])
