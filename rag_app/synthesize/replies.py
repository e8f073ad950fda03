"""What comes back from a chat model, read carefully: text, usage, refusals, structured and native citations."""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel, Field

from rag_app.cite import parse_markers
from rag_app.types import ModelError


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply: raw text with markers, token usage, whether it refused."""

    text: str
    usage: Mapping[str, Any] = field(default_factory=dict)
    refusal: bool = False
    warnings: tuple[str, ...] = ()


class CitedSentence(BaseModel):
    """One sentence of the answer with the passages it comes from."""

    text: str = Field(description="One sentence, without markers.")
    citations: list[int] = Field(default_factory=list, description="Numbers of the passages that support it.")


class SentenceReply(BaseModel):
    """An answer from the passages, sentence by sentence."""

    answerable: bool = Field(description="Whether the passages answer the question, at least in part.")
    sentences: list[CitedSentence] = Field(default_factory=list)
    missing: str | None = Field(default=None, description="Which part of the question the passages do not answer.")


def message_text(message: Any) -> str:
    """The text of a message or chunk, without reasoning and tool calls."""
    content = message.content if isinstance(message, BaseMessage) else message
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block if isinstance(block, str) else _block_text(block) for block in blocks)
    return "".join(texts)


def _block_text(block: Mapping[str, Any]) -> str:
    return str(block.get("text") or "") if block.get("type") in ("text", "output_text", "text_delta", None) else ""


def read_usage(message: BaseMessage | None) -> dict[str, Any]:
    """Input, output and total tokens, and the model's name, as far as the provider tells them."""
    if not isinstance(message, AIMessage):
        return {}
    usage: dict[str, Any] = {}
    if message.usage_metadata:
        usage = {key: message.usage_metadata[key] for key in ("input_tokens", "output_tokens", "total_tokens")}
    name = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    return {**usage, "model": name} if name and usage else usage


def with_cost(usage: Mapping[str, Any], input_price: float | None, output_price: float | None) -> dict[str, Any]:
    """The usage, with the cost where both prices (of a million tokens) are set."""
    if not usage or input_price is None or output_price is None:
        return dict(usage)
    spent = usage.get("input_tokens", 0) * input_price + usage.get("output_tokens", 0) * output_price
    return {**usage, "cost": spent / 1e6}


def structured_text(found: Any, abstention: str) -> Reply:
    """A structured reply as text with markers, so that it takes the same path as any other."""
    raw = found.get("raw") if isinstance(found, Mapping) else None
    usage = read_usage(raw)
    parsed = found.get("parsed") if isinstance(found, Mapping) else found
    if isinstance(parsed, Mapping):
        parsed = SentenceReply.model_validate(parsed)
    if not isinstance(parsed, SentenceReply):
        reason = found.get("parsing_error") if isinstance(found, Mapping) else None
        said = " ".join(str(reason or "no JSON").split())[:200]
        raise ModelError(f"the model's structured reply does not fit its schema ({said}); take synthesize.mode=inline")
    if not parsed.answerable or not parsed.sentences:
        return Reply(abstention, usage)
    sentences = [_marked(sentence) for sentence in parsed.sentences if sentence.text.strip()]
    return Reply(" ".join([*sentences, *([parsed.missing.strip()] if parsed.missing else [])]), usage)


def _marked(sentence: CitedSentence) -> str:
    text = sentence.text.strip()
    markers = "".join(f"[{number}]" for number in sentence.citations)
    if not markers:
        return text
    stop = re.search(r"[.!?。！？]+$", text)
    body, end = (text[: stop.start()], stop.group()) if stop else (text, "")
    return f"{body} {markers}{end}"


def cited_blocks(message: BaseMessage) -> str:
    """The text of a message whose blocks carry the provider's own citations, with a marker after each cited block."""
    if isinstance(message.content, str):
        return message.content
    pieces: list[str] = []
    for block in message.content:
        if isinstance(block, str):
            pieces.append(block)
            continue
        text = _block_text(block)
        cited = [*(block.get("citations") or ()), *(block.get("annotations") or ())]
        numbers = [n for n in (_document_number(citation) for citation in cited) if n is not None]
        markers = "".join(f"[{number}]" for number in dict.fromkeys(numbers))
        body = text.rstrip()
        pieces.append(f"{body} {markers}{text[len(body) :]}" if markers and body else text)
    return "".join(pieces)


def _document_number(citation: Any) -> int | None:
    """The passage that a provider's citation names, counted from 1."""
    if not isinstance(citation, Mapping):
        return None
    extras = citation.get("extras")
    for place in (citation, extras if isinstance(extras, Mapping) else {}):
        if isinstance(place.get("document_index"), int):
            return int(place["document_index"]) + 1
    return None


_DECLINES = re.compile(
    r"\b(?:(?:i |we )?(?:do not|don't|did not|didn't) have (?:enough|sufficient|any)(?: \w+)? (?:information|evidence|context|details)|"
    r"not enough information|insufficient (?:information|evidence|context)|"
    r"(?:cannot|can't|can not|unable to) (?:be )?(?:answer|find|determine|provide)|"
    r"(?:is|are|was|were) (?:not|n't) (?:mentioned|provided|stated|specified|found|included|addressed|covered)|"
    r"(?:do|does|did) (?:not|n't) (?:contain|mention|provide|state|specify|include|address|say|answer|cover)|"
    r"no information|i don't know|i do not know|i'm sorry|i am sorry|nicht genügend informationen|keine (?:ausreichenden )?informationen|"
    r"weiß (?:ich )?nicht|geht (?:daraus |aus den \w+ )?nicht hervor|pas (?:assez|suffisamment) d'informations|"
    r"no (?:tengo|hay) (?:suficiente )?información)\b|没有足够的?信息|信息不足|無法回答|无法回答|情報が(?:不足|足り)",
    re.IGNORECASE,
)


def declines(text: str, abstention: str) -> bool:
    """Whether a text without citations only says that it cannot answer."""
    plain = text.strip().replace("’", "'")
    if plain.casefold().startswith(abstention.casefold().rstrip(".")):
        return True
    return len(plain) < 400 and _DECLINES.search(plain) is not None


def says_something(text: str, n: int) -> bool:
    """Whether an answer holds a word or a number beside its markers."""
    parsed = parse_markers(text, n)
    marked = {place for marker in parsed.markers for place in range(*marker.span)}
    return any(char.isalnum() for place, char in enumerate(parsed.text) if place not in marked)
