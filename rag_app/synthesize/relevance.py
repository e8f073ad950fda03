"""How well a passage answers a question, told from the words: coverage by rarity, names and numbers, answer type."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_app.cite.align import soft_stem
from rag_app.text import Analyzer
from rag_app.text.languages import STOP_WORDS

_ANALYZER = Analyzer()
_ALL_STOPS = frozenset().union(*STOP_WORDS.values())
_DIGIT = re.compile(r"\d")
# Words that ask, and words around them that name no subject.
_ASKING_WORDS = """
many much long often far old big high tall large small good get give tell please explain know kind type sort name named
called there use used does did may shall must let viele viel lange oft hoch groß alt weit heißt gibt nennen combien quel
quelle cuánto cuánta cuántos cuántas quanto quanti
"""
_ASKING = frozenset(_ASKING_WORDS.split())


@dataclass(frozen=True, slots=True)
class Terms:
    """A question's content terms with their weights: rare terms, names and numbers weigh more."""

    weights: dict[str, float] = field(default_factory=dict)
    identifiers: frozenset[str] = frozenset()

    @property
    def total(self) -> float:
        return sum(self.weights.values())

    def cover(self, held: set[str]) -> float:
        """The share of the weight that `held` has, in [0, 1]; 0 for a question without content words."""
        return sum(w for term, w in self.weights.items() if term in held) / self.total if self.weights else 0.0


def bag(text: str) -> set[str]:
    """The soft stems of a text."""
    return {soft_stem(term) for term in _ANALYZER.terms(text, language="none")}


def question_terms(question: str, texts: Sequence[set[str]]) -> Terms:
    """The content terms of a question, weighed by their rarity among `texts` (bags of stems)."""
    words = _ANALYZER.terms(question, language="none")
    content = [w for w in words if w not in _ALL_STOPS and w not in _ASKING] or words
    frequency = Counter(term for text in texts for term in text)
    weights: dict[str, float] = {}
    identifiers: set[str] = set()
    for word in content:
        stem = soft_stem(word)
        weights[stem] = math.log(1 + (len(texts) + 1) / (frequency[stem] + 0.5))
        if _DIGIT.search(word):
            identifiers.add(stem)
    return Terms(weights, frozenset(identifiers))
