"""Words of claims and sources: soft stems with their spans, and how much each weighs.

A claim is checked against one source, so there is no corpus to count in. The weight of a word is its background
self-information instead: Zipf's law gives -log p = log(rank) + constant, and `common_words.txt` has the ranks.
"""

from __future__ import annotations

import functools
import math
import re
from importlib import resources
from typing import NamedTuple

from rag_app.text.languages import STOP_WORDS
from rag_app.types import Span

_TOKEN = re.compile(
    r"\d+(?:[.,'’\u202f\u00a0]\d+)*"  # numbers with their separators
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # a CJK character is a word of its own
    r"|(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[^\W\d_])+(?:['’](?:t|re|ve|ll|d|m)\b)?\d*"
)
_SEPARATORS = re.compile(r"[,'’\u202f\u00a0](?=\d{3}(?:\D|$))")


def listed(words: str) -> frozenset[str]:
    """The words of a text as a set: how the word tables of this package are written."""
    return frozenset(words.split())


FUNCTION_WORDS = listed(
    """
    a about above after again against all also although am an and any are as at be because been before being
    below between both but by called can could did do does doing down during each either else etc even ever
    every few for from further generally get gets got had has have having he her here hers herself him himself
    his how however i if in include includes including into is it its itself just known may me might more most
    much must my myself nor now of off often on once one only onto or other our ours out over own per quite
    rather really s same shall she should since so some such t than that the their theirs them themselves then
    there therefore these they this those though through thus to too toward towards typically under until up
    upon us usually various very via was we well were what when where whether which while who whom whose why
    will with within without would yet you your yours yourself
    """
)
"""Words that carry grammar, not matter; negators are not among them (`no`, `not`, `never` are read by the checks)."""

_COUNTING = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_ORDINAL = "first second third fourth fifth sixth seventh eighth ninth tenth"
NEGATIONS = listed(
    "no not never none neither nor without cannot nobody noth nowher nicht kein nie niemal ohn weder pas jamai aucun "
    "san nunca ningún ninguna tampoco niet geen não не нет"
)
"""Stems that deny, in English, German, French, Spanish, Dutch, Portuguese and Russian."""

NUMBER_WORDS = {
    **{word: value for value, word in enumerate(_COUNTING.split())},
    **{word: value for value, word in zip(range(30, 100, 10), _TENS.split(), strict=True)},
}
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL.split(), start=1)}
_NUMBER_STEMS = {w: str(v) for w, v in NUMBER_WORDS.items() if v != 1} | {w: str(v) for w, v in _ORDINALS.items()}

FUNCTION_WEIGHT = 0.02
UNKNOWN_RANK = 30_000
_KNEE = 30


class Word(NamedTuple):
    """A word of a text: its stem, its characters there, and the text as written."""

    stem: str
    span: Span
    text: str


@functools.cache
def _stemmer():  # type: ignore[no-untyped-def]
    import Stemmer

    return Stemmer.Stemmer("english")


def _table(name: str) -> list[list[str]]:
    """The lines of a word table of this package, as lists of words."""
    text = resources.files("rag_app.verify").joinpath(name).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines()]


@functools.cache
def _irregular() -> dict[str, str]:
    """Irregular forms with their base form: "sung" is "sing", "children" is "child"."""
    return {form: base for base, *forms in _table("irregular.txt") for form in forms}


@functools.lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The soft stem of one word: case folded, Snowball English; numbers without thousands separators."""
    if word[0].isdigit():
        return _SEPARATORS.sub("", word).rstrip(".,")
    word = word.casefold().replace("’", "'")
    if word in _NUMBER_STEMS:
        return _NUMBER_STEMS[word]
    return str(_stemmer().stemWord(_irregular().get(word, word)))


def words_of(text: str) -> list[Word]:
    """The words of `text` in order."""
    return [Word(stem(m.group()), Span(*m.span()), m.group()) for m in _TOKEN.finditer(text)]


def stems_of(text: str) -> list[str]:
    """The stems alone, in order."""
    return [stem(word) for word in _TOKEN.findall(text)]


@functools.cache
def _ranks() -> dict[str, int]:
    lines = resources.files("rag_app.verify").joinpath("common_words.txt").read_text(encoding="utf-8").split()
    return {word: rank for rank, word in enumerate(lines, start=1)}


@functools.cache
def _function_stems() -> frozenset[str]:
    others = (word for words in STOP_WORDS.values() for word in words)
    # "die" and "man" are grammar in German and matter in English: what English lists as a word stays one.
    foreign = (stem(word) for word in others if word)
    return frozenset(stem(word) for word in FUNCTION_WORDS) | {s for s in foreign if s not in _ranks()} - NEGATIONS


def is_function_word(stem_: str) -> bool:
    """Does the stem carry grammar rather than matter?"""
    return stem_ in _function_stems()


@functools.lru_cache(maxsize=65_536)
def weight(stem_: str) -> float:
    """How much a word tells, in (0, 1]: background self-information over that of a word nobody lists."""
    if is_function_word(stem_):
        return FUNCTION_WEIGHT
    if stem_[0].isdigit():
        return 0.8
    rank = _ranks().get(stem_, UNKNOWN_RANK)
    return max(0.1, math.log(1 + rank / _KNEE) / math.log(1 + UNKNOWN_RANK / _KNEE))
