"""Reading order: columns are found by the gutters between them, and everything else is read line by line.

Bands of text that touch no other band vertically are grouped while they share a gutter (a vertical strip without text).
A group is read column by column when each side looks like running text, so that a table stays a table.
"""

from __future__ import annotations

import statistics
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rag_app.load.pdf_segments import Segment

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """The segments of one line, in reading order."""

    segments: tuple[Segment, ...]

    @property
    def x0(self) -> float:
        return min(segment.x0 for segment in self.segments)

    @property
    def x1(self) -> float:
        return max(segment.x1 for segment in self.segments)

    @property
    def y0(self) -> float:
        return min(segment.y0 for segment in self.segments)

    @property
    def y1(self) -> float:
        return max(segment.y1 for segment in self.segments)

    @property
    def size(self) -> float:
        """Height of the characters in the segment that holds most text."""
        return max(self.segments, key=lambda segment: (len(segment.text), segment.size)).size

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)


def reading_order(segments: Sequence[Segment], depth: int = 0) -> list[list[Line]]:
    """Blocks of lines in reading order; a block is one column or one stretch across the page."""
    if not segments:
        return []
    blocks: list[list[Line]] = []
    for group, gutters in _groups(_bands(segments)):
        columns = _columns(group, gutters) if depth < 4 else [group]
        if len(columns) > 1 and all(_running_text(column) for column in columns):
            columns = columns[::-1] if _right_to_left("".join(s.text for s in group)) else columns
            for column in columns:
                blocks += reading_order(column, depth + 1)
        else:
            blocks.append(_lines(group))
    return blocks


def _bands(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Segments grouped by overlap in height, from the top."""
    bands: list[list[Segment]] = []
    bottom = float("-inf")
    for segment in sorted(segments, key=lambda s: (s.y0, s.x0)):
        # Loose boxes of neighboring lines overlap a little.
        if bands and segment.y0 < bottom - 0.25 * segment.height:
            bands[-1].append(segment)
        else:
            bands.append([segment])
            bottom = float("-inf")
        bottom = max(bottom, segment.y1)
    return bands


def _groups(bands: list[list[Segment]]) -> list[tuple[list[Segment], list[Interval]]]:
    """Neighboring bands joined while they share a gutter."""
    every = [segment for band in bands for segment in band]
    region = _reach(every)
    width = max(5.0, 0.6 * statistics.median(s.height for s in every))
    groups: list[tuple[list[Segment], list[Interval], Interval]] = []
    for band in bands:
        free, reach = _free(band, region, width), _reach(band)
        if groups:
            group, shared, extent = groups[-1]
            both, wide = _common(shared, free, width), (min(extent[0], reach[0]), max(extent[1], reach[1]))
            # Join while a gutter is left, and single columns with single columns.
            if _inner(both, wide) or not (_inner(shared, extent) or _inner(free, reach)):
                group += band
                groups[-1] = (group, both, wide)
                continue
        groups.append((list(band), free, reach))
    return [(group, _inner(strips, extent)) for group, strips, extent in groups]


def _reach(segments: Sequence[Segment]) -> Interval:
    return min(segment.x0 for segment in segments), max(segment.x1 for segment in segments)


def _free(segments: Sequence[Segment], region: Interval, width: float) -> list[Interval]:
    """The strips of `region` at least `width` wide that hold no text."""
    free: list[Interval] = []
    edge = region[0] - 2 * width
    for segment in sorted(segments, key=lambda s: s.x0):
        if segment.x0 - edge >= width:
            free.append((edge, segment.x0))
        edge = max(edge, segment.x1)
    free.append((edge, region[1] + 2 * width))
    return free


def _common(a: list[Interval], b: list[Interval], width: float) -> list[Interval]:
    both = [(max(p[0], q[0]), min(p[1], q[1])) for p in a for q in b]
    return sorted(strip for strip in both if strip[1] - strip[0] >= width)


def _inner(strips: list[Interval], extent: Interval) -> list[Interval]:
    """The strips with text on both sides."""
    return [strip for strip in strips if strip[0] > extent[0] and strip[1] < extent[1]]


def _columns(group: list[Segment], gutters: list[Interval]) -> list[list[Segment]]:
    """The segments between the gutters, from the left."""
    cuts = [(a + b) / 2 for a, b in gutters]
    columns: list[list[Segment]] = [[] for _ in range(len(cuts) + 1)]
    for segment in group:
        columns[sum(1 for cut in cuts if segment.x0 > cut)].append(segment)
    return [column for column in columns if column]


def _running_text(column: list[Segment]) -> bool:
    """Lines that fill most of the column's width, as sentences do and cells do not."""
    lines = _lines(column)
    widths = sorted(line.x1 - line.x0 for line in lines)
    characters = [len(line.text) for line in lines]
    wide = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    return (
        len(lines) >= 3
        and statistics.median(widths) >= 0.5 * wide
        and statistics.mean(characters) >= 14
        and sum(characters) >= 60
        and sum(c.isdigit() for line in lines for c in line.text) < 0.3 * sum(characters)
    )


def _lines(segments: Sequence[Segment]) -> list[Line]:
    """Segments on one height as lines, from the top; within a line from the left, or right in Arabic and Hebrew."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda s: ((s.y0 + s.y1) / 2, s.x0)):
        for row in reversed(rows[-3:]):
            tallest = max(row, key=lambda s: s.height)
            overlap = min(tallest.y1, segment.y1) - max(tallest.y0, segment.y0)
            if overlap >= 0.45 * min(tallest.height, segment.height) and not _covers(row, segment):
                row.append(segment)
                break
        else:
            rows.append([segment])
    rows.sort(key=lambda row: max(row, key=lambda s: (s.height, -s.x0)).y0)
    lines = []
    for row in rows:
        backwards = _right_to_left("".join(s.text for s in row))
        lines.append(Line(tuple(sorted(row, key=lambda s: (-s.x1 if backwards else s.x0, s.y0)))))
    return lines


def _covers(row: list[Segment], segment: Segment) -> bool:
    """Whether the row already has text at this place: then it is another line, however close."""
    return any(
        min(s.x1, segment.x1) - max(s.x0, segment.x0) > 0.5 * min(s.x1 - s.x0, segment.x1 - segment.x0) for s in row
    )


def _right_to_left(text: str) -> bool:
    strong = [unicodedata.bidirectional(c) for c in text if c.isalpha()]
    return sum(kind in ("R", "AL") for kind in strong) > 0.5 * len(strong) if strong else False
