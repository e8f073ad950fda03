"""An answer as statements to check: clauses with their citations, their kind, and the words they inherit.

Lists inherit their lead-in, table cells read "row head - column head: cell", and a statement that opens with a pronoun
has the sentence before as context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_app.cite import Bound, ParsedText, bind, parse_markers
from rag_app.cite.segments import is_question
from rag_app.types import Claim, Span

_ABSTENTION = re.compile(
    r"\b(?:(?:do(?:es)?|did|is|are|was|were|can|could) ?(?:not|n['’]t)\s+(?:\w+\s+){0,2}?(?:say|state|mention|contain|"
    r"provide|specify|include|answer|find|found|enough|know|available|given|stated|mentioned|specified|provided|"
    r"address|indicate|cover|have (?:enough|any|the))|cannot (?:answer|find|be (?:found|answered|determined))|"
    r"no (?:information|mention|answer|evidence|details?) (?:about|on|of|in|is|was|regarding)|"
    r"unable to (?:answer|find)|insufficient (?:information|evidence|context)|"
    r"nicht (?:genannt|angegeben|erwähnt|beantworten)|keine angaben?)\b",
    re.IGNORECASE,
)
_ABOUT_SOURCES = re.compile(
    r"\b(?:sources?|documents?|passages?|context|excerpts?|evidence|texts?|information|provided|given|i|we|quellen?|"
    r"dokumente?|answer)\b",
    re.IGNORECASE,
)
_META = re.compile(
    r"^\W*(?:here (?:is|are)|in (?:summary|conclusion|short)\W*$|to summarize\W*$|i hope\b|let me know|feel free|"
    r"sure\b|of course\b|certainly\b|based on (?:the|these|your) (?:provided |given )?(?:sources|documents|context|"
    r"passages|information)\W*$|the following\b.*:\W*$|below (?:is|are)\b|as an ai\b|note that\W*$|"
    r"(?:sources|references|citations)\W*$)",
    re.IGNORECASE,
)
_DISAGREE = re.compile(
    r"^\W*(?:(?:however|but|note that|here|while)\b,?\s*)?(?:(?:the|these|both|some|two|three|several|cited|given|"
    r"provided|retrieved|available|other|all)\s+)*(?:sources?|documents?|passages?|texts?|accounts|excerpts?|quellen)\s+"
    r"(?:also\s+|clearly\s+|do not\s+|don['’]t\s+|partly\s+)?(?:disagree|agree|differ|diverge|vary|conflict|contradict|"
    r"widersprechen|are (?:inconsistent|contradictory|in conflict|not consistent)|give (?:different|conflicting))\b"
    r"(?!.*\bthat\b)(?!.*\d)[^.]{0,80}\W*$",
    re.IGNORECASE,
)
"""Sentences about the sources themselves: "The sources disagree on this point." """
_OPINION = re.compile(
    r"\b(?:i (?:think|believe|feel|would (?:say|argue|recommend|suggest))|in my (?:opinion|view)|personally|"
    r"meiner meinung|à mon avis|en mi opinión)\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^\W*(?:please|let us|let['’]s|consider|make sure|remember to|be sure to|try to|don['’]t forget|bitte)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^\W*(?:he|she|it|they|this|these|those|that|his|her|its|their|both|such|er|sie|es|diese[rs]?|il|elle|ils|elles)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim with what is needed to check it: `words` is its text without markers and with what it inherits;
    `context` the sentence before when the statement opens with a pronoun, else "".
    """

    claim: Claim
    words: str
    context: str = ""


def kind_of(text: str) -> str:
    """factual | abstention | meta | opinion | question | instruction."""
    if is_question(text):
        return "question"
    if _ABSTENTION.search(text) and _ABOUT_SOURCES.search(text):
        return "abstention"
    if _META.search(text) or _DISAGREE.search(text):
        return "meta"
    if _OPINION.search(text):
        return "opinion"
    if _INSTRUCTION.search(text):
        return "instruction"
    return "factual"


def statements_of(text: str, count: int) -> tuple[list[Statement], ParsedText]:
    """The statements of an answer over `count` numbered sources, and the answer with its phantom markers taken out.

    Headings, row heads and code make none; questions, opinions and the like are statements of their kind. Spans refer
    to the cleaned text.
    """
    parsed = parse_markers(text, count)
    bound = bind(parsed)
    found: list[Statement] = []
    previous = ""
    for clause in bound:
        if _is_no_statement(clause, bound):
            continue
        words = _inherited(parsed.text, clause)
        claim = Claim(clause.text, clause.span, clause.citations, kind_of(clause.words))
        found.append(Statement(claim, words, previous if _PRONOUN.match(clause.words) else ""))
        previous = clause.words
    return found, parsed


def _is_no_statement(clause: Bound, bound: Sequence[Bound]) -> bool:
    if clause.kind in ("heading", "definition", "code"):
        return True
    if clause.kind == "table" and clause.segment.column == 0:
        row = (clause.segment.block, clause.segment.row)
        return any((o.segment.block, o.segment.row) == row and o.segment.column > 0 for o in bound)
    return not clause.citations and clause.words.rstrip("*_ ").endswith((":", "："))


def _inherited(text: str, clause: Bound) -> str:
    """The words of the clause with its lead-in, or with the heads of its table cell."""
    # Spans of a segment refer to the text without markers; only lengths of heads matter here, so they are re-read.
    if clause.kind == "table":
        heads = _heads(text, clause)
        return f"{' - '.join(heads)}: {clause.words}" if heads else clause.words
    if clause.kind == "list":
        lead = _lead_in(text, clause)
        if lead and not _is_sentence(clause.words):
            return f"{lead} {clause.words}"
    return clause.words


def _heads(text: str, clause: Bound) -> list[str]:
    line_start = text.rfind("\n", 0, clause.span.start) + 1
    line = text[line_start : (text.find("\n", clause.span.end) + 1 or len(text) + 1) - 1]
    row = [cell.strip() for cell in line.strip().strip("|").split("|")]
    block = text[:line_start].rstrip("\n").split("\n")
    table = []
    for previous in reversed(block):
        if "|" not in previous:
            break
        table.append(previous)
    head = [cell.strip() for cell in table[-1].strip().strip("|").split("|")] if table else []
    column = clause.segment.column
    names = [row[0] if column and row else "", head[column] if column < len(head) else ""]
    return [_MARKER.sub("", name).strip() for name in names if _MARKER.sub("", name).strip()]


_MARKER = re.compile(r"\s*\[[\d,\s-]+\]")


def _lead_in(text: str, clause: Bound) -> str:
    before = text[: clause.span.start].rstrip().split("\n")
    for line in reversed(before):
        if line.rstrip().endswith((":", "：")):
            return _MARKER.sub("", line).strip().lstrip("#").rstrip(":： ").strip()
        if line.strip() and not re.match(r"\s*(?:[-*+•]|\d+[.)])", line):
            return ""
    return ""


def _is_sentence(words: str) -> bool:
    return bool(re.search(r"[.!?。]\W*$", words)) and len(words.split()) > 5


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
