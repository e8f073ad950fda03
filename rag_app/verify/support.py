"""The support channel: how much of a claim one window of a source holds, as a few features and one score.

The features measure shares of the claim, never its length: with lengths, a model fixed on one data set fell to chance
on another. The constants stand in `lexical.json`, which says what they were fixed on and by which script.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from pydantic import BaseModel, ConfigDict

from rag_app.verify.quantities import quantities_of, same_value
from rag_app.verify.source import Floats, IndexedSource, content_stems
from rag_app.verify.words import NEGATIONS, Word, is_function_word, weight, words_of

TITLE_PENALTY = 0.15
RARE = 0.6
"""From this weight on, a word that is no name and no number is rare."""


class LinearModel(BaseModel):
    """A logistic model over named features: sigmoid(sum of weight * (feature - mean) / scale + bias)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float

    def score(self, features: dict[str, float]) -> float:
        total = self.bias
        for name, mean, scale, weight_ in zip(self.features, self.mean, self.scale, self.weights, strict=True):
            total += weight_ * (features[name] - mean) / scale
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@cache
def constants() -> dict[str, object]:
    """What `benchmarks/verify/fit.py` wrote: the model, the thresholds, and what they were fixed on."""
    text = resources.files("rag_app.verify").joinpath("lexical.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@cache
def default_model() -> LinearModel:
    return LinearModel.model_validate(constants()["support"])


@dataclass(frozen=True, slots=True)
class Support:
    """The best window of one source for a claim: `first` to `last` are its units, `best` the one sentence of it
    most like the claim, `shown` the sentence that is shown as evidence first.

    `score` in [0, 1] is the model's; `coverage` the weighted share of the claim's words in the window; `missing` the
    stems that the window lacks.
    """

    score: float
    coverage: float
    first: int
    last: int
    best: int
    shown: int
    missing: tuple[str, ...]
    features: dict[str, float]


NOTHING = Support(0.0, 0.0, 0, -1, -1, -1, (), {})


_MARKER = re.compile(r"\[\^?\d{1,3}(?:[,\s-]+\d{1,3})*\](?!\()|^\W*\d{1,2}[.)](?=\s)")


def without_markers(claim: str) -> str:
    """The claim with citation markers and list numbers blanked out, every other character in its place."""
    return _MARKER.sub(lambda match: " " * len(match.group()), claim)


def claim_words(claim: str) -> list[Word]:
    """The words that are looked for; negators are left to the checks, or adding "not" could raise a score."""
    claim = without_markers(claim)
    return [word for word in words_of(claim) if word.stem not in NEGATIONS and not word.stem.endswith("n't")]


def support_of(claim: str, source: IndexedSource, model: LinearModel | None = None) -> Support:
    """The best support for `claim` in `source`; an empty claim or source has none (score 0)."""
    words = claim_words(claim)
    stems = content_stems(words) or list(dict.fromkeys(word.stem for word in words))
    if not stems or not len(source):
        return NOTHING
    weights = np.array([weight(stem) for stem in stems])
    weights /= weights.sum()
    hits = source.hits(stems)
    _count_equal_numbers(claim, words, stems, source, hits)
    one = weights @ hits
    padded = np.pad(hits, ((0, 0), (1, 1)))
    three = np.maximum(np.maximum(padded[:, :-2], padded[:, 1:-1]), padded[:, 2:])
    prefixed = three if source.title is None else np.maximum(three, hits[:, [source.title]])
    coverage = weights @ prefixed
    middle = int(np.lexsort((-one, -coverage))[0])
    found = prefixed[:, middle]
    if found.max() == 0:
        return NOTHING
    first, last = max(0, middle - 1), min(len(source) - 1, middle + 1)
    best = max(range(first, last + 1), key=lambda unit: (one[unit], -unit))
    # A sentence stands for itself and for its neighbors: the sum finds the sentence that people marked in WiCE more
    # often than either (87 of 100). A title repeats the words of many claims and is seldom what supports them.
    rank = one + weights @ three
    if source.title is not None:
        rank[source.title] -= TITLE_PENALTY
    shown = int(rank.argmax())
    window = source.window_words(first, last)
    if source.title is not None and first > source.title:
        window = source.words_in(source.title) + window
    features = {
        "sentence coverage": float(one.max()),
        "window coverage": float(coverage[middle]),
        "union coverage": _union_coverage(weights, three, found),
        "source coverage": float(weights @ hits.max(axis=1)),
        **_sequence_features(words, window),
        **_entity_features(claim, words, stems, weights, found, hits.max(axis=1)),
    }
    score = (model or default_model()).score(features)
    missing = tuple(stem for stem, value in zip(stems, found, strict=True) if value == 0)
    return Support(score, float(coverage[middle]), first, last, best, shown, missing, features)


def _count_equal_numbers(
    claim: str, words: Sequence[Word], stems: list[str], source: IndexedSource, hits: Floats
) -> None:
    """Count "1.2 million" as found where the source has 1,184,320: every word of a number of equal value."""
    row_of = {stem: row for row, stem in enumerate(stems)}
    for quantity in quantities_of(claim):
        inside = [w.stem for w in words if quantity.span.start <= w.span.start and w.span.end <= quantity.span.end]
        rows = [row_of[stem] for stem in inside if stem in row_of]
        if not any(stem[0].isdigit() and stem not in source.postings for stem in inside) or not rows:
            continue
        for other in source.quantities:
            if same_value(quantity, other) and quantity.dimension == other.dimension:
                hits[rows, source.unit_at(other.span.start)] = 1.0


def _union_coverage(weights: Floats, windows: Floats, found: Floats) -> float:
    """Coverage by the best window and up to two more, chosen greedily."""
    current = found
    for _ in range(2):
        union = np.maximum(windows, current[:, None])
        gains = weights @ union
        if gains.max() <= weights @ current + 1e-9:
            break
        current = union[:, int(gains.argmax())]
    return float(weights @ current)


def _sequence_features(words: Sequence[Word], window: Sequence[Word]) -> dict[str, float]:
    """Shares of the claim's order that the window keeps: bigrams of content words, longest run, common subsequence."""
    ours, theirs = [w.stem for w in words], [w.stem for w in window]
    content = [stem for stem in ours if not is_function_word(stem)] or ours
    other = [stem for stem in theirs if not is_function_word(stem)]
    pairs, there = list(itertools.pairwise(content)), set(itertools.pairwise(other))
    pair_weights = [min(weight(a), weight(b)) for a, b in pairs]
    kept = sum(w for w, pair in zip(pair_weights, pairs, strict=True) if pair in there)
    surface = list(itertools.pairwise(ours))
    return {
        "surface bigrams": share_in(surface, set(itertools.pairwise(theirs))),
        "bigrams": kept / sum(pair_weights) if pairs else 1.0,
        "longest run": _longest_run(ours, theirs) / len(ours),
        "subsequence": _common_subsequence(content, other) / sum(weight(stem) for stem in content),
    }


def share_in(items: Sequence[tuple[str, str]], there: set[tuple[str, str]]) -> float:
    """The share of the items that are there; 1 when there are no items."""
    return sum(item in there for item in items) / len(items) if items else 1.0


def _longest_run(a: Sequence[str], b: Sequence[str]) -> int:
    places: dict[str, list[int]] = {}
    for index, stem in enumerate(b):
        places.setdefault(stem, []).append(index)
    best, previous = 0, dict[int, int]()
    for stem in a:
        current = {index: previous.get(index - 1, 0) + 1 for index in places.get(stem, ())}
        best = max(best, *current.values()) if current else best
        previous = current
    return best


def _common_subsequence(a: Sequence[str], b: Sequence[str]) -> float:
    """The greatest weight of a common subsequence of stems."""
    if not b:
        return 0.0
    theirs = np.array(b, dtype=object)
    previous = np.zeros(len(b) + 1)
    for stem in a:
        taken = np.where(theirs == stem, previous[:-1] + weight(stem), 0.0)
        previous = np.concatenate([[0.0], np.maximum.accumulate(np.maximum(previous[1:], taken))])
    return float(previous[-1])


def _entity_features(
    claim: str, words: Sequence[Word], stems: list[str], weights: Floats, found: Floats, anywhere: Floats
) -> dict[str, float]:
    """Weighted shares of the claim's names and numbers that are missing; 0 when it has none."""
    place = {stem: index for index, stem in enumerate(stems)}
    names = [place[stem] for stem in dict.fromkeys(entity_stems(claim, words)) if stem in place]
    numbers = [place[stem] for stem in stems if stem[0].isdigit()]
    plain = [index for index in range(len(stems)) if index not in names and index not in numbers]
    rare = [index for index in plain if weight(stems[index]) > RARE]
    lost, lost_anywhere = weights * (1 - found), weights * (1 - anywhere)
    return {
        "names missing": float(lost[names].sum() / weights[names].sum()) if names else 0.0,
        "numbers missing": float(np.mean(found[numbers] < 1)) if numbers else 0.0,
        "numbers missing anywhere": float(np.mean(anywhere[numbers] < 1)) if numbers else 0.0,
        "plain words missing anywhere": float(lost_anywhere[plain].sum() / weights[plain].sum()) if plain else 0.0,
        "rare words missing": float(lost[rare].sum() / weights[rare].sum()) if rare else 0.0,
        "largest miss": float(lost.max()),
    }


def entity_stems(claim: str, words: Sequence[Word]) -> list[str]:
    """Stems of capitalized words that do not open a sentence."""
    stems = []
    for word in words[1:]:
        before = claim[: word.span.start].rstrip()
        opens = not before or before[-1] in ".!?:"
        if word.text[0].isupper() and not opens and not is_function_word(word.stem):
            stems.append(word.stem)
    return stems
