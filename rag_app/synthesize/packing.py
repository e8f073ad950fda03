"""Evidence packed to a token budget: best first, near-duplicates dropped, whole spans only."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from langchain_core.documents import Document

from rag_app.trace import Ranked, Removal, trace_of

_SHINGLE = 5
_OVERHEAD = 30  # tokens of delimiters, source and section around each passage


def about_tokens(text: str) -> int:
    """A careful guess where the model's tokenizer is not known: a token is 3.5 letters, or one CJK character."""
    wide = sum(1 for char in text if "\u2e80" <= char <= "\uffef")
    return wide + -(-2 * (len(text) - wide) // 7)


def pack(
    evidence: Sequence[Document],
    *,
    budget: int | None,
    count_tokens: Callable[[str], int] = about_tokens,
    near_duplicate: float = 0.9,
) -> Ranked:
    """The evidence that fits, in its order; what was left out is in the trace as "duplicate" or "over budget".

    A passage whose shingles of five words are held to `near_duplicate` by one passage before it from the same source
    is dropped; equal passages of different sources stay, because each source is worth a citation. A passage that does
    not fit is left out and later ones may still fit.
    """
    kept: list[Document] = []
    removed: list[Removal] = []
    seen: list[tuple[set[str], str]] = []
    spent = 0
    for document in evidence:
        if not document.page_content.strip():
            continue
        shingles, source = _shingles(document.page_content), str(document.metadata.get("source", ""))
        if any(source == other and _held(shingles, there) >= near_duplicate for there, other in seen):
            removed.append(Removal(str(document.id), "pack", "duplicate"))
            continue
        cost = count_tokens(document.page_content) + _OVERHEAD
        if budget is not None and spent + cost > budget:
            removed.append(Removal(str(document.id), "pack", "over budget", f"{cost} tokens, {budget - spent} left"))
            continue
        spent += cost
        seen.append((shingles, source))
        kept.append(document)
    parameters = {"budget": budget, "tokens": spent}
    return Ranked(kept, trace_of(evidence).add("pack", removed=removed, parameters=parameters))


def _shingles(text: str) -> set[str]:
    words = re.findall(r"\w+", text.casefold())
    if len(words) < _SHINGLE:
        return {" ".join(words)}
    return {" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)}


def _held(shingles: set[str], there: set[str]) -> float:
    return len(shingles & there) / len(shingles) if shingles else 1.0
