"""Chunks that end where the subject changes: groups of sentences, embedded, cut where neighbors differ most."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings
from pydantic import Field, model_validator

from rag_app.split.atoms import sentence_atoms
from rag_app.split.base import SpanSplitter
from rag_app.split.pack import Unit, pack_units
from rag_app.types import ConfigError, Span

Floats = npt.NDArray[np.float64]

_AMOUNTS = {"percentile": 90.0, "standard_deviation": 1.0, "interquartile": 1.5, "gradient": 90.0}
_BATCH = 512


class SemanticSplitter(SpanSplitter):
    """Embeds groups of `group_size` sentences and cuts between neighbors that are less alike than a threshold.

    Every sentence lands in a chunk; no chunk is above `max_size`, and one below `min_size` joins the neighbor that it
    is more like, where that fits. What is above `max_size` (uniform text has no cut at all) is cut into even parts at
    sentences. The embedder is given at run time: `splitter.bind(embeddings=...)`.
    """

    kind: Literal["semantic"] = "semantic"
    group_size: int = Field(3, ge=1, description="Sentences that are embedded together.")
    threshold: Literal["percentile", "standard_deviation", "interquartile", "gradient"] = Field(
        "percentile", description="How much less alike than usual neighbors must be for a cut."
    )
    amount: float | None = Field(
        None, description="The percentile (90), or the factor of the deviation (1) or the quartile range (1.5)."
    )
    min_size: int = Field(200, ge=0, description="A smaller chunk joins a neighbor, in units of `length`.")
    max_size: int = Field(1600, gt=0, description="The most a chunk holds, in units of `length`.")
    overlap: float = Field(0.0, ge=0.0, le=0.3, description="Share of a chunk that repeats the one before.")
    embeddings: Embeddings | None = Field(None, exclude=True, repr=False)

    @model_validator(mode="after")
    def _sizes_fit(self) -> SemanticSplitter:
        if self.min_size > self.max_size:
            raise ValueError(f"min_size {self.min_size} must not be above max_size {self.max_size}")
        return self

    @property
    def needs_embedder(self) -> bool:
        return self.embeddings is None or super().needs_embedder

    def spans(self, text: str) -> list[Span]:
        atoms = sentence_atoms(self, text, self.max_size)
        if not atoms:
            return []
        groups = self._groups(text, atoms)
        if len(groups) < 2:
            runs = [Span(0, len(atoms))]
        else:
            distances = self._distances([text[atoms[a].start : atoms[b - 1].end] for a, b in groups])
            runs = self._runs(text, atoms, groups, distances)
        found: list[Span] = []
        for run in runs:
            for first, stop in self._fitting(text, atoms, run):
                start = self._overlap_start(text, atoms, first, stop)
                found.append(Span(atoms[start].start, atoms[stop - 1].end))
        return found

    def _groups(self, text: str, atoms: Sequence[Span]) -> list[Span]:
        """Ranges of atoms that are embedded together; none is above `max_size`."""
        groups: list[Span] = []
        first = 0
        while first < len(atoms):
            stop = min(first + self.group_size, len(atoms))
            while stop > first + 1 and self.measure(text[atoms[first].start : atoms[stop - 1].end]) > self.max_size:
                stop -= 1
            groups.append(Span(first, stop))
            first = stop
        return groups

    def _distances(self, texts: Sequence[str]) -> Floats:
        """Cosine dissimilarity of each group with the next."""
        if self.embeddings is None:
            raise ConfigError(
                "the semantic splitter has no embedder; give one with `bind(embeddings=...)`, such as an `Embedder`"
            )
        rows: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            rows += self.embeddings.embed_documents(list(texts[start : start + _BATCH]))
        return neighbor_distances(np.asarray(rows, dtype=np.float64))

    def _runs(self, text: str, atoms: Sequence[Span], groups: Sequence[Span], distances: Floats) -> list[Span]:
        """Ranges of atoms between the cuts, the small ones joined to the neighbor they are more like."""
        cuts = cut_places(distances, self.threshold, self.amount)
        bounds = [0, *(cut + 1 for cut in cuts), len(groups)]
        runs = [Span(start, stop) for start, stop in itertools.pairwise(bounds)]
        joined: list[Span] = []
        for run in runs:
            joined.append(run)
            while len(joined) > 1 and self._should_join(text, atoms, groups, joined[-2:], distances):
                last = joined.pop()
                joined[-1] = Span(joined[-1].start, last.end)
        return [Span(groups[run.start].start, groups[run.end - 1].end) for run in joined]

    def _should_join(
        self, text: str, atoms: Sequence[Span], groups: Sequence[Span], pair: Sequence[Span], distances: Floats
    ) -> bool:
        def size(start: int, stop: int) -> int:
            return self.measure(text[atoms[groups[start].start].start : atoms[groups[stop - 1].end - 1].end])

        left, right = pair
        if min(size(*left), size(*right)) >= self.min_size or size(left.start, right.end) > self.max_size:
            return False
        # A small run that is not the last waits for its right neighbor when it is more like that one.
        last = right.end == len(groups)
        small_right = size(*right) < self.min_size <= size(*left)
        return last or not small_right or distances[right.start - 1] <= distances[right.end - 1]

    def _fitting(self, text: str, atoms: Sequence[Span], run: Span) -> list[Span]:
        """The run itself when it fits, else even parts of whole atoms."""
        room = self.max_size - int(self.overlap * self.max_size)
        if self.measure(text[atoms[run.start].start : atoms[run.end - 1].end]) <= room:
            return [run]
        units = [Unit(atom, 0.0) for atom in atoms[run.start : run.end]]
        measure = None if self.measures_characters else self.measure
        parts = pack_units(text, units, target=max(1, room * 3 // 4), most=room, measure=measure)
        firsts = {atoms[index].start: index for index in range(run.start, run.end)}
        starts = [firsts[part.start] for part in parts]
        return [Span(start, stop) for start, stop in itertools.pairwise([*starts, run.end])]

    def _overlap_start(self, text: str, atoms: Sequence[Span], first: int, stop: int) -> int:
        """The first atom of the chunk when it repeats whole sentences of the one before."""
        if not self.overlap or first == 0:
            return first
        size = self.measure(text[atoms[first].start : atoms[stop - 1].end])
        start = first
        while start > 0:
            shared = self.measure(text[atoms[start - 1].start : atoms[first].start].rstrip())
            whole = self.measure(text[atoms[start - 1].start : atoms[stop - 1].end])
            if shared > self.overlap * (size + shared) or whole > self.max_size:
                break
            start -= 1
        return start


def neighbor_distances(vectors: Floats) -> Floats:
    """1 - cosine of each row with the next: (n, d) -> (n - 1,) in [0, 2]; a zero row is at distance 1."""
    norms = np.linalg.norm(vectors, axis=1)
    products = np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
    scale = norms[:-1] * norms[1:]
    return np.asarray(1.0 - np.divide(products, scale, out=np.zeros_like(products), where=scale > 0), dtype=np.float64)


def cut_places(distances: Floats, threshold: str, amount: float | None = None) -> list[int]:
    """Indices of the distances above the threshold; equal distances (uniform text) have none.

    percentile: above that percentile. standard_deviation: above the mean by `amount` deviations. interquartile: above
    the mean by `amount` quartile ranges. gradient: where the distance rises by more than that percentile of all rises.
    """
    amount = _AMOUNTS[threshold] if amount is None else amount
    if len(distances) == 0 or float(np.ptp(distances)) < 1e-9:
        return []
    values = distances
    if threshold == "percentile":
        limit = float(np.percentile(values, amount))
    elif threshold == "standard_deviation":
        limit = float(values.mean() + amount * values.std())
    elif threshold == "interquartile":
        low, high = np.percentile(values, [25, 75])
        limit = float(values.mean() + amount * (high - low))
    else:
        values = np.gradient(distances) if len(distances) > 1 else distances
        limit = float(np.percentile(values, amount))
    return [int(place) for place in np.flatnonzero(values > limit)]
