"""The words that deny."""

from __future__ import annotations

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
