"""The words that deny."""

from __future__ import annotations

from collections.abc import Sequence

from rag_app.verify.checks.han import negation_tables
from rag_app.verify.words import NEGATIONS, Word, listed, stem

NEGATORS = (
    NEGATIONS
    | listed("fail unabl lack refus deni hardly")
    | {stem(word) for words in negation_tables()["negators"].values() for word in words.split()}
)


def is_negator(word: Word) -> bool:
    """Does the word deny?"""
    return word.stem in NEGATORS or word.text.casefold().replace("’", "'").endswith("n't")


_PHRASES = ("anything but", "far from", "alles andere als", "tout sauf", "todo menos")
PHRASE_STARTS = frozenset(phrase.split()[0] for phrase in _PHRASES)
_DETERMINERS = listed("the a an this that these those its his her their our my your it him them us me")


def phrase_length(words: Sequence[Word], index: int) -> int:
    """How many words from `index` on deny as a phrase: "anything but simple", "far from empty"; 0 for none.

    "Not anything but rice" is only rice, and "far from the station" a distance.
    """
    for phrase in _PHRASES:
        said = phrase.split()
        if [word.text.casefold() for word in words[index : index + len(said)]] != said:
            continue
        after = words[index + len(said) : index + len(said) + 1]
        before = words[max(0, index - 6) : index]
        if not after or after[0].text.casefold() in _DETERMINERS or after[0].text[0].isupper():
            return 0
        return 0 if any(map(is_negator, before)) else len(said)
    return 0
