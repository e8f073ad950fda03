"""The context is data: text that talks to the model is kept from it, and the answer may only link what is in evidence.

The defense holds in code: an obedient model never sees a sentence that reads as an instruction to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document

from rag_app.cite.place import place_of
from rag_app.text.instructions import instruction_spans, strip_hidden

WITHHELD = "[a sentence addressed to the reader's assistant was withheld]"

_MARKDOWN_LINK = re.compile(r"!?\[([^\]\n]*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?[^)\n]*\)")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*<?(\S+?)>?(?:[ \t]+.*)?$\n?", re.MULTILINE)
_HTML = re.compile(r"<(?:img|a|iframe|script|form|link|object|embed|video|audio|source|svg)\b[^<>]*>", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:(?:https?|ftp|data|javascript)://?[^\s<>()\[\]\"'`，。；]+|\bwww\.[^\s<>()\[\]\"'`，。；]+)", re.I
)
_IN_TAG = re.compile(r"(?:href|src|action|data)\s*=\s*[\"']?([^\s\"'>]+)", re.IGNORECASE)
_TRAIL = ".,;:!?*_"
# The end of a text that may still become a link: a stream holds it back.
OPEN_LINK = re.compile(r"(?:!?\[[^\]\n]*(?:\](?:\([^)\n]*)?)?|<[^<>\n]*|\S+)\Z")


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Evidence as the model may see it, and a warning for each passage that talks to the model."""

    evidence: tuple[Document, ...]
    warnings: tuple[str, ...]


def quarantine(evidence: Sequence[Document]) -> Quarantined:
    """Copies of the evidence without sentences that read as instructions to a model, and without hidden characters.

    The names of a source and a page and the headings above a passage are its author's words too. Only the prompt is
    made from the copies: citations, quotes and verdicts refer to the evidence itself.
    """
    shown: list[Document] = []
    warnings: list[str] = []
    for number, document in enumerate(evidence, start=1):
        text = document.page_content
        spans = instruction_spans(text)
        clean, position = [], 0
        for span in spans:
            clean += [text[position : span.start], WITHHELD]
            position = span.end
        visible = strip_hidden("".join([*clean, text[position:]]))
        labels, withheld = _quiet_labels(document)
        if spans or withheld:
            source = labels.get("source") or document.metadata.get("source") or document.id or "unknown"
            count = len(spans) + withheld
            warnings.append(f"passage [{number}] ({source}) talks to the model; {count} sentence(s) were withheld")
        update = {"page_content": visible, "metadata": {**document.metadata, **labels}}
        shown.append(document if visible == text and not labels else document.model_copy(update=update))
    return Quarantined(tuple(shown), tuple(warnings))


def _quiet_labels(document: Document) -> tuple[dict[str, Any], int]:
    """What of a passage's source, page and section path is shown otherwise, and how many of these talk to the model."""
    place, page = place_of(document, 0), document.metadata.get("page")
    given = (place.source, page if isinstance(page, str) else "", *place.section_path)
    source, named_page, *path = (WITHHELD if instruction_spans(label) else strip_hidden(label) for label in given)
    labels: dict[str, Any] = {} if source == place.source else {"source": source}
    if named_page != given[1]:
        labels["page"] = named_page
    if tuple(path) != place.section_path:
        labels["section_path"] = path
    return labels, [source, named_page, *path].count(WITHHELD)


def allow_links(text: str, evidence: Sequence[Document], question: str = "") -> tuple[str, list[str]]:
    """The text without links that stand in no passage, and those links. The words of a link stay.

    Links leak what the model read to whoever owns the address, so images and HTML that would fetch one go too.
    """
    known = "\n".join([*(document.page_content for document in evidence), question])
    removed: list[str] = []

    def is_known(address: str) -> bool:
        bare = address.rstrip(_TRAIL).rstrip("/")
        if not bare or bare.startswith("#"):
            return True
        found = known.find(bare)
        while found >= 0:
            # The address as a whole: a longer one in the answer could carry data out.
            after = known[found + len(bare) : found + len(bare) + 1]
            if not after or not (after.isalnum() or after in "-_=&%"):
                return True
            found = known.find(bare, found + 1)
        return False

    def drop(address: str) -> bool:
        if is_known(address):
            return False
        removed.append(address)
        return True

    text = _MARKDOWN_LINK.sub(lambda m: _link_words(m) if drop(m.group(2)) else m.group(), text)
    text = _DEFINITION.sub(lambda m: "" if drop(m.group(1)) else m.group(), text)
    text = _HTML.sub(lambda m: "" if _any_dropped(_IN_TAG.findall(m.group()), drop) else m.group(), text)
    text = _ADDRESS.sub(lambda m: _without(m) if drop(m.group()) else m.group(), text)
    return text, removed


def _any_dropped(addresses: Sequence[str], drop: Callable[[str], bool]) -> bool:
    """Whether one of the addresses is dropped; each is looked at, so that each is reported."""
    return sum(drop(address) for address in addresses) > 0


def _link_words(link: re.Match[str]) -> str:
    return "" if link.group().startswith("!") else link.group(1)


def _without(address: re.Match[str]) -> str:
    tail = address.group()[len(address.group().rstrip(_TRAIL)) :]
    return f"(link removed){tail}"
