"""The support channel: how much of a claim one window of a source holds, as a few features and one score.

The features measure what of the claim is there, never its length or the source's: with lengths, a model fixed on one
data set fell to chance on another. The constants stand in `lexical.json`, which says what they were fixed on and by
which script.
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

from rag_app.verify.equal_numbers import words_as_written
from rag_app.verify.source import Floats, IndexedSource, content_stems
from rag_app.verify.statements import parts_of
from rag_app.verify.words import NEGATIONS, Word, is_function_word, weight, words_of

TITLE_PENALTY = 0.15
PART = 0.8
"""A part of a claim with less weight than this says too little to be looked for on its own."""
RARE = 0.75
"""The weight from which a word is rare; numbers are."""


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
    words, equal = words_as_written(claim, claim_words(claim), source)
    stems = content_stems(words) or list(dict.fromkeys(word.stem for word in words))
    if not stems or not len(source):
        return NOTHING
    raw = np.array([weight(stem) for stem in stems])
    weights = raw / raw.sum()
    hits = source.hits(stems)
    for row, stem in enumerate(stems):
        hits[row, list(equal.get(stem, ()))] = 1.0
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
    parts = _parts_covered(claim, words, stems, weights, prefixed)
    features = {
        **_halves(content, stems, raw, found),
        **_rarities(claim, words, stems, raw, found, hits.max(axis=1)),
        "neighbors kept": _pairs_kept(content, source, skip=1, reach=2),
        "pairs kept": _pairs_kept(content, source, skip=6, reach=10),
        "window used": _share_used(stems, source, first, last),
    }
    score = (model or default_model()).score(features)
    missing = tuple(stem for stem, value in zip(stems, found, strict=True) if value == 0)
    spread = bool(coverage[middle] > one.max() + 1e-9)
    return Support(score, float(coverage[middle]), first, last, best, shown, missing, spread, parts, features)


def _pairs_kept(content: Sequence[str], source: IndexedSource, *, skip: int, reach: int) -> float:
    """The weighted share of the claim's pairs of near words (up to `skip` apart) that are near in the source too.

    Near in the source: within `reach` words that carry matter, in any order, so that "was built by A" and "A built" are
    one. Pairs of neighbors are bigrams; a claim of one word has none, and the share is 1.
    """
    places = [source.places.get(stem, ()) for stem in content]
    kept = total = 0.0
    near: dict[tuple[str, str], bool] = {}
    for first, stem in enumerate(content):
        for second in range(first + 1, min(len(content), first + 1 + skip)):
            if content[second] == stem:
                continue
            pair = min(weight(stem), weight(content[second]))
            total += pair
            both = (stem, content[second])
            if both not in near:
                near[both] = _are_near(places[first], places[second], reach)
            if near[both]:
                kept += pair
    return kept / total if total else 1.0


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


def _parts_covered(
    claim: str, words: Sequence[Word], stems: list[str], weights: Floats, windows: Floats
) -> tuple[float, ...]:
    """The coverage of each part of the claim that says enough to be looked for, each in its own best window."""
    row_of = {stem: row for row, stem in enumerate(stems)}
    starts = [word.span.start for word in words]
    shares: dict[tuple[int, ...], float] = {}
    found = []
    for part in parts_of(claim):
        inside = words[bisect.bisect_left(starts, part.start) : bisect.bisect_left(starts, part.end)]
        rows = tuple(row_of[stem] for stem in content_stems(inside) if stem in row_of)
        if rows and sum(weight(stems[row]) for row in rows) > PART:
            if rows not in shares:
                at = list(rows)
                shares[rows] = float((weights[at] @ windows[at]).max() / weights[at].sum())
            found.append(shares[rows])
    return tuple(found)


def _halves(content: Sequence[str], stems: Sequence[str], raw: Floats, found: Floats) -> dict[str, float]:
    """Coverage of the claim's second half, and of the half that the window holds less of, counted in words of matter.

    A claim opens with what is known, most often the subject, and ends with what is new of it: a window about the
    subject holds the first half of false claims too.
    """
    row_of = {stem: row for row, stem in enumerate(stems)}
    rows = [row_of[stem] for stem in content if stem in row_of]
    middle = max(1, len(rows) // 2)
    first, second = (
        float(raw[half] @ found[half] / raw[half].sum()) for half in (rows[:middle], rows[middle:] or rows)
    )
    return {"second half": second, "weaker half": min(first, second)}


def _rarities(
    claim: str, words: Sequence[Word], stems: Sequence[str], raw: Floats, found: Floats, anywhere: Floats
) -> dict[str, float]:
    """What the rare words, numbers and names of the claim say; as if all were there when it has none.

    Names are the one feature that is no share: a name that the window lacks weighs the same in a long claim.
    """
    names_ = set(entity_stems(claim, words))
    names = [row for row, stem in enumerate(stems) if stem in names_ and not stem[0].isdigit()]
    numbers = [row for row, stem in enumerate(stems) if stem[0].isdigit()]
    rare = [row for row, value in enumerate(raw) if value >= RARE]
    return {
        "rare words found": float(raw[rare] @ anywhere[rare] / raw[rare].sum()) if rare else 1.0,
        "numbers missing": float(np.mean(found[numbers] < 1)) if numbers else 0.0,
        "number absent": float(bool(numbers) and anywhere[numbers].min() == 0),
        "names lost": float(raw[names] @ (1 - found[names])),
    }


def _share_used(stems: Sequence[str], source: IndexedSource, first: int, last: int) -> float:
    """The weighted share of the window's words that are words of the claim: a window about other things has few."""
    wanted, used, total = set(stems), 0.0, 0.0
    for unit in range(first, last + 1):
        for stem in source.stems[unit]:
            if not is_function_word(stem):
                total += weight(stem)
                used += weight(stem) if stem in wanted else 0.0
    return used / total if total else 0.0


def entity_stems(claim: str, words: Sequence[Word]) -> list[str]:
    """Stems of capitalized words that do not open a sentence."""
    stems = []
    for word in words[1:]:
        before = claim[: word.span.start].rstrip()
        opens = not before or before[-1] in ".!?:"
        if word.text[0].isupper() and not opens and not is_function_word(word.stem):
            stems.append(word.stem)
    return stems
