"""What kind of document a text is, so that a profile can choose how to split it."""

from __future__ import annotations

import re

from rag_app.load.parsed import Parsed
from rag_app.load.text import MAIL_HEADER

DOCUMENT_TYPES = ("prose", "contract", "code", "table", "slides", "email", "transcript", "faq", "markdown", "records")

_BY_FORMAT = {
    "json": "records",
    "jsonl": "records",
    "code": "code",
    "csv": "table",
    "xlsx": "table",
    "pptx": "slides",
    "email": "email",
}
_CONTRACT = re.compile(
    r"\b(?:hereinafter|herein|hereto|hereby|whereas|the parties|this agreement|governing law|indemnif\w+|termination|"
    r"shall be liable|in witness whereof|vertragspartei\w*|dieser vertrag|gerichtsstand|confidential information)\b",
    re.I,
)
_CLAUSE = re.compile(r"^\s*(?:\d+(?:\.\d+)+\.?|§\s*\d+|(?:article|section|clause)\s+\d+)\s+\S", re.I | re.M)
_SPEAKER = re.compile(
    r"^\s*(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s*)?\**"
    r"[A-ZÄÖÜ][\w.'-]*(?: [A-ZÄÖÜ][\w.'-]*){0,3}(?: \([^)\n]{1,30}\))?\**:\**\s+\S",
    re.M,
)
_QUESTION = re.compile(r"^(?:#+\s*|Q\d*[:.]\s*|\*\*)?[A-Z¿][^\n]{5,150}\?\**$", re.M)


def document_type(parsed: Parsed, name: str) -> str:
    """One of DOCUMENT_TYPES: by format where that decides, else by what the text looks like."""
    if parsed.format in _BY_FORMAT:
        return _BY_FORMAT[parsed.format]
    text = parsed.text[:40_000]
    if len(MAIL_HEADER.findall(text[:800])) >= 3:
        return "email"
    lines = max(1, len([line for line in text.split("\n") if line.strip()]))
    legal = len({match.lower() for match in _CONTRACT.findall(text)})
    if (legal >= 3 and (len(_CLAUSE.findall(text)) >= 3 or legal >= 5)) or (
        re.search(r"contract|agreement|vertrag", name, re.I) and legal >= 2
    ):
        return "contract"
    speakers = [match.group().split(":")[0].strip(" *[]") for match in _SPEAKER.finditer(text)]
    if len(speakers) >= 6 and len(speakers) > 0.3 * lines and len(set(speakers)) < 0.5 * len(speakers):
        return "transcript"
    asked = len(_QUESTION.findall(text))
    if asked >= 4 and asked >= 0.12 * lines:
        return "faq"
    if parsed.format == "markdown":
        return "markdown"
    return "prose"
