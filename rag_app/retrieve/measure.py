"""How well each arm finds a sentence's own chunk, on a sample of the corpus: no judgments needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.documents import Document

from rag_app.embed.retry import with_retry
from rag_app.index.settings import IndexSettings
from rag_app.text import Analyzer, sentence_spans
from rag_app.types import Hit, Span, read_chunk_id

if TYPE_CHECKING:
    from rag_app.index.base import Index

Progress = Callable[[int, int, str], None]
_WORD = re.compile(r"\w+")
_DEPTH = 100
_SHORTEST, _LONGEST = 25, 400  # characters of a sentence that is taken out


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A sentence, and the chunk that it was taken out of: `rest` is what is left of its text."""

    chunk: Document
    sentence: str
    span: Span
    rest: str


def measure_arms(index: Index, *, sample: int = 200, progress: Progress | None = None) -> dict[str, Any]:
    """What `weights: auto` goes by; stored as `notes["arms"]`.

    `bm25_mrr` and `dense_mrr`: mean reciprocal rank of a chunk asked for by one of its own sentences, which was first
    taken out of it; `ratio`: dense over bm25; `pieces_per_word`: tokens that the embedder makes of a word; `sentences`:
    how many were tried; `chunks`: how many the index had. Ratio and ranks are null where fewer than 20 sentences could
    be tried. Deterministic.
    """
    held = held_out(index, sample)
    embedder = _embedder(index)
    notes: dict[str, Any] = {
        "sentences": len(held),
        "chunks": len(index),
        "pieces_per_word": _pieces_per_word(
            [chunk.page_content for chunk in _evenly(index, sample)], embedder.count_tokens
        ),
        "bm25_mrr": None,
        "dense_mrr": None,
        "ratio": None,
    }
    if len(held) < 20:
        return notes
    if progress is not None:
        progress(0, 2, "measuring the arms")
    dense = _dense_ranks(index, embedder, held)
    if progress is not None:
        progress(1, 2, "measuring the arms")
    words = _bm25_ranks(index, held)
    if progress is not None:
        progress(2, 2, "measuring the arms")
    bm25_mrr, dense_mrr = _mean_reciprocal(words), _mean_reciprocal(dense)
    ratio = round(dense_mrr / bm25_mrr, 4) if bm25_mrr > 0 else None
    return notes | {"bm25_mrr": round(bm25_mrr, 4), "dense_mrr": round(dense_mrr, 4), "ratio": ratio}


def held_out(index: Index, sample: int) -> list[HeldOut]:
    """Up to `sample` chunks, evenly over the corpus, each without the sentence nearest to its middle."""
    # Twice as many as needed: some chunks have no sentence to spare.
    held = [found for chunk in _evenly(index, 2 * sample) if (found := _take_out(chunk)) is not None]
    return held[:: max(1, len(held) // sample)][:sample]


def _evenly(index: Index, count: int) -> list[Document]:
    ids = index.chunk_ids()
    return index.get(ids[:: max(1, len(ids) // count)][:count])


def _take_out(chunk: Document) -> HeldOut | None:
    text = chunk.page_content
    spans = sentence_spans(text)
    fit = [span for span in spans if _SHORTEST <= span.end - span.start <= _LONGEST or _cjk(span.slice(text))]
    if len(spans) < 3 or not fit:
        return None
    middle = len(text) / 2
    span = min(fit, key=lambda s: (abs((s.start + s.end) / 2 - middle), s.start))
    rest = f"{text[: span.start]}{text[span.end :]}"
    start = int(chunk.metadata.get("start_index", 0))
    return HeldOut(chunk, span.slice(text), span.shift(start), rest) if rest.strip() else None


def _cjk(sentence: str) -> bool:
    return len(sentence) >= 8 and any("\u3040" <= c <= "\u9fff" for c in sentence)


def _dense_ranks(index: Index, embedder: Any, held: Sequence[HeldOut]) -> list[int]:
    questions = embedder.encode([each.sentence for each in held], query=True)
    rests = with_retry(lambda: embedder.encode([each.rest for each in held]), getattr(embedder, "retry_waits", ()))
    rankings = index.dense_by_vectors(questions, k=_DEPTH)
    own = np.einsum("ij,ij->i", questions, rests)
    return [_rank(hits, each, float(score)) for hits, each, score in zip(rankings, held, own, strict=True)]


def _bm25_ranks(index: Index, held: Sequence[HeldOut]) -> list[int]:
    settings = _settings(index)
    analyzer, k1, b = settings.analyzer, settings.bm25.k1, settings.bm25.b
    before = [_counts(analyzer, each.chunk.page_content) for each in held]
    average = sum(sum(counts.values()) for counts in before) / len(before)
    ranks = []
    for each, whole in zip(held, before, strict=True):
        rest = _counts(analyzer, each.rest, like=each.chunk.page_content)
        score = 0.0
        for term, part in index.bm25_terms(each.sentence, str(each.chunk.id)).items():
            was = _saturation(whole.get(term, 1), sum(whole.values()) / average, k1, b)
            score += part * _saturation(rest.get(term, 0), sum(rest.values()) / average, k1, b) / was
        ranks.append(_rank(index.bm25(each.sentence, k=_DEPTH), each, score) if score > 0 else 0)
    return ranks


def _settings(index: Index) -> IndexSettings:
    """Analyzer and formula in effect; of an index that does not say, what its manifest has of them, or the defaults."""
    own: IndexSettings | None = getattr(index, "settings", None)
    if own is not None:
        return own
    built = index.manifest.get("settings", {})
    return IndexSettings.model_validate({name: built[name] for name in ("analyzer", "bm25") if name in built})


def _counts(analyzer: Analyzer, text: str, *, like: str | None = None) -> Counter[str]:
    return Counter(analyzer.index_terms(text, language=analyzer.detect(like or text)))


def _saturation(count: int, length: float, k1: float, b: float) -> float:
    """What a term's count is worth, up to a factor; `length` is relative to the average."""
    return count / (count + k1 * (1 - b + b * length))


def _rank(hits: Sequence[Hit], held: HeldOut, score: float) -> int:
    """The rank that the chunk would have with `score`; 0 when it lies beyond the depth.

    Other chunks that overlap the sentence hold its text: they are left out of the count.
    """
    better = sum(1 for hit in hits if hit.score > score and not _holds(hit.chunk_id, held))
    return 0 if better >= len(hits) and len(hits) >= _DEPTH else better + 1


def _holds(chunk_id: str, held: HeldOut) -> bool:
    if chunk_id == held.chunk.id:
        return True
    place = read_chunk_id(chunk_id)
    return place is not None and place[0] == held.chunk.metadata.get("doc_id") and place[1].overlaps(held.span)


def _mean_reciprocal(ranks: Sequence[int]) -> float:
    return sum(1 / rank for rank in ranks if rank) / len(ranks)


def _pieces_per_word(texts: Sequence[str], count_tokens: Callable[[str], int]) -> float | None:
    """Tokens over words; a text without spaces counts as few long words, which is what makes it stand out.

    Words alone are counted: the punctuation of code and tables would look like a language that is not known.
    """
    found = [_WORD.findall(text) for text in texts]
    words = sum(map(len, found))
    tokens = sum(max(0, count_tokens(" ".join(each)) - 2) for each in found)
    return round(tokens / words, 4) if words else None


def _embedder(index: Any) -> Any:
    return index.embedder


def stale(notes: Mapping[str, Any], chunks: int) -> bool:
    """Whether the arms should be measured again: never done, or the corpus grew or shrank by a fifth since."""
    found = notes.get("arms")
    return not found or abs(chunks - found["chunks"]) > 0.2 * max(1, found["chunks"])
