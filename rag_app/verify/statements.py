"""An answer as statements to check: clauses with their citations, their kind, and the words they inherit.

Lists inherit their lead-in, table cells read "row head - column head: cell" (`inherit`), and a statement that opens
with a pronoun has the sentence before as context.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from rag_app.cite import Bound, ParsedText, bind, parse_markers
from rag_app.types import Claim, Span
from rag_app.verify.inherit import LeadIn, Structure
from rag_app.verify.kinds import is_talk, kind_of

_PRONOUN = re.compile(
    r"^\W*(?:(?:however|but|and|so|also|then|later|moreover|furthermore|additionally|yes|no|in addition|today|now|aber|"
    r"außerdem|mais|de plus|pero|además),?\s+)?(?:he|she|it|they|this|these|those|that|his|her|its|their|both|such|er|"
    r"sie|es|diese[rs]?|il|elle|ils|elles)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim with what is needed to check it: `words` is its text without markers and with what it inherits;
    `context` what its subject stands in, "" when it has its own: for a pronoun the last sentence that opens with none,
    for a clause cut off behind a marker the clause before, for an item under a sentence that sentence.
    """

    claim: Claim
    words: str
    context: str = ""


def statements_of(text: str, count: int) -> tuple[list[Statement], ParsedText]:
    """The statements of an answer over `count` numbered sources, and the answer with its phantom markers taken out.

    Headings, row heads and code make none; questions, opinions and the like are statements of their kind. A list item
    without markers of its own is cited by those of its lead-in. Spans refer to the cleaned text.
    """
    parsed = parse_markers(text, count)
    bound = bind(parsed)
    structure = Structure(parsed)
    wide = {(b.segment.block, b.segment.row) for b in bound if b.kind == "table" and b.segment.column > 0}
    found: list[Statement] = []
    subject = ""
    before: Bound | None = None
    for clause in (b for b in bound if _is_statement(b, wide)):
        leads = structure.lead_ins(clause.span.start) if _goes_on(clause, before) else ()
        citations = clause.citations or next((lead.citations for lead in reversed(leads) if lead.citations), ())
        kind = kind_of(clause.words)
        if kind in ("opinion", "instruction") and clause.citations:
            kind = "factual"  # whoever cites a source says that the source says so
        context = _context(clause, before, leads, subject)
        claim = Claim(clause.text, clause.span, citations, kind)
        found.append(Statement(claim, _inherited(clause, leads, structure), context))
        before = clause
        if not context and kind != "meta":
            subject = clause.words
    return found, parsed


def _goes_on(clause: Bound, before: Bound | None) -> bool:
    """Does a list item go on from its lead-in here: in its first sentence, or one that a line end cut?"""
    if clause.kind != "list" or before is None or clause.segment.block != before.segment.block:
        return clause.kind == "list"
    return clause.segment == before.segment or not _STOPS.search(before.words)


def _context(clause: Bound, before: Bound | None, leads: Sequence[LeadIn], subject: str) -> str:
    """The words that the subject of a clause stands in; `subject` is the last sentence that had its own."""
    if leads and not leads[-1].is_open:
        return leads[-1].words
    if before is not None and clause.segment == before.segment and clause.kind != "table" and _VERB.match(clause.words):
        return before.words
    return subject if _PRONOUN.match(clause.words) else ""


def _is_statement(clause: Bound, wide: Container[tuple[int, int]]) -> bool:
    """Whether the clause states something; `wide` are the rows of tables that have more than their head."""
    if clause.kind in ("heading", "definition", "code"):
        return False
    if clause.kind == "table" and clause.segment.column == 0:
        return (clause.segment.block, clause.segment.row) not in wide
    return bool(clause.citations) or not clause.words.rstrip("*_ ").endswith((":", "："))


def _inherited(clause: Bound, leads: Sequence[LeadIn], structure: Structure) -> str:
    """The words of the clause with its lead-ins, or with the heads of its table cell."""
    if clause.kind == "table":
        heads = structure.heads(clause.span.start)
        return f"{' - '.join(heads)}: {clause.words}" if heads else clause.words
    if _is_sentence(clause.words) or not all(lead.is_open for lead in leads):
        return clause.words
    told = (lead.words for lead in leads if not is_talk(f"{lead.words}:"))
    return " ".join([*filter(None, told), clause.words])


_STOPS = re.compile(r"[.!?。]\W*$")


def _is_sentence(words: str) -> bool:
    return bool(_STOPS.search(words)) and len(words.split()) > 5


_SPLIT = re.compile(
    r"\s*;\s+|,?\s+(?:and|but|while|whereas|und|aber|et|mais|y|pero)\s+(?=\S)|,\s+(?=\S)", re.IGNORECASE
)
_VERB = re.compile(
    r"(?:(?:he|she|it|they|which|who|also|then|later|now|is|are|was|were|has|have|had|will|would|can|could|may|must|"
    r"does|did|do|ist|sind|war|hat|est|es|fue)\b|\w{2,}(?:s|ed|es)\b(?!\s+of\b))",
    re.IGNORECASE,
)
_ITEM = re.compile(r",[^,]{2,40}$")
_MATTER = re.compile(r"\w{2}")


def parts_of(text: str) -> list[Span]:
    """The coordinated parts of a claim: clauses with their own verb, and the items of an enumeration.

    Parts are pieces of the text, without their subject; a claim that has no such parts is one part. They say which
    share of a claim is supported, so their wording is kept.
    """
    pieces: list[Span] = []
    start = 0
    for match in _SPLIT.finditer(text):
        is_list = "," in match.group() or _ITEM.search(text, max(start, match.start() - 41), match.start())
        if ";" in match.group() or _VERB.match(text, match.end()) or is_list:
            pieces.append(Span(start, match.start()))
            start = match.end()
    pieces.append(Span(start, len(text)))
    return [piece for piece in pieces if _MATTER.search(text, *piece)] or [Span(0, len(text))]
