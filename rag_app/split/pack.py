"""Neighboring units into chunks of even size, cut where it costs least: one dynamic program for all splitters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rag_app.types import Span

# How much wanted cuts weigh, tried in turn until the mean chunk has this share of the target.
_WEIGHTS = (1.0, 0.75, 0.5, 0.25, 0.0)
_MEAN = 0.8


class Unit(NamedTuple):
    """What is never cut further: a sentence, a table, a definition.

    `cost` is the price of a cut before it, below zero where a cut is wanted; no overlap reaches back over a unit that
    `opens` a section.
    """

    span: Span
    cost: float
    opens: bool = False


def pack(begins: Sequence[int], ends: Sequence[int], costs: Sequence[float], *, target: int, most: int) -> list[Span]:
    """Runs of units (half-open ranges of their indices) that together cost least; each run holds at least one unit.

    `begins` and `ends` are the units' places on a scale in which sizes count (characters, or tokens so far). A run of
    size s costs ((s - target) / target)^2 plus the cost of the cut before it; a run above `most` is not allowed unless
    it is a single unit. Ties go to the earlier cut. Time: units times units per run.
    """
    count = len(ends)
    least = [0.0] + [float("inf")] * count
    previous = [0] * (count + 1)
    for stop in range(1, count + 1):
        end, best, chosen = ends[stop - 1], float("inf"), stop - 1
        for start in range(stop - 1, -1, -1):
            size = end - begins[start]
            if size > most and start < stop - 1:
                break
            off = (size - target) / target
            total = least[start] + off * off + (costs[start] if start else 0.0)
            if total <= best:
                best, chosen = total, start
        least[stop], previous[stop] = best, chosen
    runs: list[Span] = []
    stop = count
    while stop:
        runs.append(Span(previous[stop], stop))
        stop = previous[stop]
    return runs[::-1]


def pack_units(
    text: str,
    units: Sequence[Unit],
    *,
    target: int,
    most: int,
    overlap: int = 0,
    measure: Callable[[str], int] | None = None,
) -> list[Span]:
    """The chunks of `units`: about `target`, none above `most` but single units; `measure` None counts characters.

    A chunk begins with as many whole units of the one before as fit into `overlap`, never over a section's start.
    """
    begins, ends = _scale(text, units, measure)
    runs = _settle(begins, ends, [unit.cost for unit in units], max(1, target - overlap), max(1, most - overlap))
    found: list[Span] = []
    for start, stop in runs:
        first = start
        while overlap and first > 0 and not units[first].opens and begins[start] - begins[first - 1] <= overlap:
            if ends[stop - 1] - begins[first - 1] > most:
                break
            first -= 1
        span = Span(units[first].span.start, units[stop - 1].span.end)
        if measure is not None and stop - first > 1 and measure(span.slice(text)) > most:
            # The sizes of units do not add up with this measure.
            found += _one_by_one(text, units[start:stop], most, measure)
        else:
            found.append(span)
    return found


def _settle(begins: Sequence[int], ends: Sequence[int], costs: Sequence[float], target: int, most: int) -> list[Span]:
    """The runs, with wanted cuts weighed less until the mean run is near the target: many small sections share runs."""
    runs: list[Span] = []
    for weight in _WEIGHTS:
        weighed = [cost * weight if cost < 0 else cost for cost in costs]
        runs = pack(begins, ends, weighed, target=target, most=most)
        if not runs or sum(ends[stop - 1] - begins[start] for start, stop in runs) >= _MEAN * target * len(runs):
            break
    return runs


def _scale(text: str, units: Sequence[Unit], measure: Callable[[str], int] | None) -> tuple[list[int], list[int]]:
    """Begins and ends of the units on the scale of sizes."""
    if measure is None:
        return [unit.span.start for unit in units], [unit.span.end for unit in units]
    begins, ends, so_far = [], [], 0
    for unit in units:
        begins.append(so_far)
        so_far += measure(unit.span.slice(text))
        ends.append(so_far)
    return begins, ends


def _one_by_one(text: str, units: Sequence[Unit], most: int, measure: Callable[[str], int]) -> list[Span]:
    found = [units[0].span]
    for unit in units[1:]:
        wider = Span(found[-1].start, unit.span.end)
        if measure(wider.slice(text)) <= most:
            found[-1] = wider
        else:
            found.append(unit.span)
    return found
