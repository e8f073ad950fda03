"""The support channel: how much of a claim one window of a source holds, as a few features and one score.

The features measure shares of the claim, never its length: with lengths, a model fixed on one data set fell to chance
on another. The constants stand in `lexical.json`, which says what they were fixed on and by which script.
"""

from __future__ import annotations

import bisect
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
from rag_app.verify.statements import parts_of
from rag_app.verify.words import NEGATIONS, Word, is_function_word, weight, words_of

TITLE_PENALTY = 0.15
PART = 0.8
"""A part of a claim with less weight than this says too little to be looked for on its own."""


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
    stems that the window lacks; `spread` says that no one sentence holds as much of the claim as the window;
    `parts` is the coverage of each part of the claim in its own best window.
    """

    score: float
    coverage: float
    first: int
    last: int
    best: int
    shown: int
    missing: tuple[str, ...]
    spread: bool
    parts: tuple[float, ...]
    features: dict[str, float]


NOTHING = Support(0.0, 0.0, 0, -1, -1, -1, (), False, (), {})


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
    content = [word.stem for word in words if not is_function_word(word.stem)] or stems
    inside = [source.places_of(first, last)]
    if source.title is not None and first > source.title:
        inside.append(source.places_of(source.title, source.title))
    anywhere = hits.max(axis=1)
    parts = _parts_covered(claim, stems, weights, prefixed)
    features = {
        "window coverage": float(coverage[middle]),
        "union coverage": _union_coverage(weights, three, found),
        "pairs in window": _pairs_kept(content, source, inside, skip=3, reach=6),
        "pairs in source": _pairs_kept(content, source, [(0, len(source.text))], skip=1, reach=2),
        "weakest part": min(parts, default=float(coverage[middle])),
        **_entity_features(claim, words, stems, weights, found, anywhere),
    }
    score = (model or default_model()).score(features)
    missing = tuple(stem for stem, value in zip(stems, found, strict=True) if value == 0)
    spread = bool(coverage[middle] > one.max() + 1e-9)
    return Support(score, float(coverage[middle]), first, last, best, shown, missing, spread, parts, features)


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


def _pairs_kept(
    content: Sequence[str], source: IndexedSource, inside: Sequence[tuple[int, int]], *, skip: int, reach: int
) -> float:
    """The weighted share of the claim's pairs of near words (up to `skip` apart) that are near in the source too.

    Near in the source: within `reach` words that carry matter, in any order, so that "was built by A" and "A built" are
    one. Pairs of neighbors are bigrams; a claim of one word has none, and the share is 1.
    """
    places = [_places_inside(source.places.get(stem, ()), inside) for stem in content]
    kept = total = 0.0
    for first, stem in enumerate(content):
        for second in range(first + 1, min(len(content), first + 1 + skip)):
            if content[second] == stem:
                continue
            pair = min(weight(stem), weight(content[second]))
            total += pair
            if places[first] and places[second] and _are_near(places[first], places[second], reach):
                kept += pair
    return kept / total if total else 1.0


def _places_inside(places: Sequence[int], inside: Sequence[tuple[int, int]]) -> list[int]:
    found: list[int] = []
    for start, end in inside:
        found += places[bisect.bisect_left(places, start) : bisect.bisect_left(places, end)]
    return sorted(found)


def _are_near(a: Sequence[int], b: Sequence[int], reach: int) -> bool:
    """Is some place of `a` at most `reach` from one of `b`? Both in order."""
    i = j = 0
    while i < len(a) and j < len(b):
        if abs(a[i] - b[j]) <= reach:
            return True
        if a[i] < b[j]:
            i += 1
        else:
            j += 1
    return False


def _parts_covered(claim: str, stems: list[str], weights: Floats, windows: Floats) -> tuple[float, ...]:
    """The coverage of each part of the claim that says enough to be looked for, each in its own best window."""
    row_of = {stem: row for row, stem in enumerate(stems)}
    shares = []
    for part in parts_of(claim):
        rows = [row_of[stem] for stem in content_stems(words_of(part)) if stem in row_of]
        if rows and sum(weight(stems[row]) for row in rows) > PART:
            shares.append(float((weights[rows] @ windows[rows]).max() / weights[rows].sum()))
    return tuple(shares)


def _entity_features(
    claim: str, words: Sequence[Word], stems: list[str], weights: Floats, found: Floats, anywhere: Floats
) -> dict[str, float]:
    """Shares of the claim's names and numbers that are there or missing; as if all were there when it has none."""
    names_ = set(entity_stems(claim, words))
    names = [row for row, stem in enumerate(stems) if stem in names_ and not stem[0].isdigit()]
    numbers = [row for row, stem in enumerate(stems) if stem[0].isdigit()]
    lost = weights * (1 - found)
    return {
        "numbers found": float(np.mean(anywhere[numbers])) if numbers else 1.0,
        "numbers missing": float(np.mean(found[numbers] < 1)) if numbers else 0.0,
        "names missing": float(lost[names].sum() / weights[names].sum()) if names else 0.0,
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
