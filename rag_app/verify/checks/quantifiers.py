"""Quantifiers and modality: "most" does not license "all", and "may" not "must"."""

from __future__ import annotations

from collections.abc import Iterator

from rag_app.types import Check
from rag_app.verify.checks.base import Aligned
from rag_app.verify.checks.negators import is_negator
from rag_app.verify.words import Word, is_function_word, listed

_TOTAL = listed(
    "all every each always entire entirely everyone completely alle jeder immer tous toujours todos siempre"
)
_PARTIAL = listed(
    "most many some several few often usually sometimes partly nearly almost majority half rarely meisten einige viele "
    "plupart certains mayoría algunos"
)
_STRONG = listed("must shall muss müssen doit doivent debe deben")
_WEAK = listed(
    "may might could can should darf dürfen kann können könnte sollte peut peuvent pourrait puede pueden podría"
)
_REACH = 3


def check_quantifiers(aligned: Aligned) -> Iterator[Check]:
    """Fail where the claim says all and the best sentence, of the same thing, says most or some."""
    for index, word in enumerate(aligned.words):
        if word.text.casefold() not in _TOTAL or (index and is_negator(aligned.words[index - 1])):
            continue
        heads = _following(aligned.words, index)
        said = [w.text.casefold() for w in aligned.best]
        if not heads or word.text.casefold() in said:
            continue
        for place, other in enumerate(aligned.best):
            if other.text.casefold() in _PARTIAL and heads & _following(aligned.best, place):
                yield aligned.check("quantifier", "fail", word.span, other.span)
                return


def _following(words: tuple[Word, ...], index: int) -> set[str]:
    after = words[index + 1 : index + 1 + _REACH + 1]
    return {word.stem for word in after if not is_function_word(word.stem)}


def check_modality(aligned: Aligned) -> Iterator[Check]:
    """Fail where the claim says that something must be and the best sentence that it may."""
    said = {word.text.casefold() for word in aligned.best}
    if said & _STRONG or not said & _WEAK:
        return
    for index, word in enumerate(aligned.words):
        if word.text.casefold() not in _STRONG:
            continue
        heads = _following(aligned.words, index)
        for place, other in enumerate(aligned.best):
            if other.text.casefold() in _WEAK and heads & _following(aligned.best, place):
                yield aligned.check("modality", "fail", word.span, other.span)
                return
