"""Citation markers: parsed, checked, bound to clauses and resolved to exact quotes. Knows no language model."""

from rag_app.cite.align import align, attribute, locate, make_citation, resolve
from rag_app.cite.binding import Bound, bind, claims
from rag_app.cite.markers import Marker, ParsedText, StreamParser, parse_markers, renumber
from rag_app.cite.segments import Block, Segment, blocks, segments

__all__ = [
    "Block",
    "Bound",
    "Marker",
    "ParsedText",
    "Segment",
    "StreamParser",
    "align",
    "attribute",
    "bind",
    "blocks",
    "claims",
    "locate",
    "make_citation",
    "parse_markers",
    "renumber",
    "resolve",
    "segments",
]
