"""The pipeline card: what a run is made of, why, and what was measured, in one page."""

from __future__ import annotations

from typing import Any

from rag_app.embed import Embedder
from rag_app.index import LocalIndex
from rag_app.retrieve.arms import diagnosis, trust
from rag_app.settings import Settings
from rag_app.types import RagAppError

WHY: dict[str, dict[str, str]] = {
    "chunking": {
        "recursive": "cuts at paragraphs, lines, sentences, in that order; never inside a word",
        "semantic": "cuts where neighboring groups of sentences differ most",
        "sentence": "single sentences match, their windows are read",
        "parent": "small chunks match, their parents are read",
        "markdown": "headings bound the chunks; tables and code stay whole",
        "html": "headings bound the chunks; tables and code stay whole",
        "code": "definitions stay whole",
        "page": "one chunk a page",
        "auto": "each kind of document has its own splitter and size",
    },
    "retrieval": {
        "rrf": "ranks of both rankings are summed as weight / (k + rank): no scales to compare",
        "linear": "scores of both rankings are scaled per query and added",
        "dbsf": "scores of both rankings are standardized per query and added",
        "bm25": "words alone rank: exact terms, any language, no model",
        "dense": "vectors alone rank: meaning beyond words, where the embedder knows the language",
        "query": "the question is rewritten, split or multiplied first; the rankings of its forms are fused",
    },
    "reranking": {
        "none": "off",
        "late-interaction": "each word of the question meets its best word of the chunk (MaxSim)",
        "cross-encoder": "question and chunk are read together",
        "llm": "a chat model grades each chunk from 1 to 5",
    },
    "expansion": {
        "none": "off",
        "parent": "the parent of a chunk is read",
        "window": "the sentences around a chunk are read",
        "merge": "neighboring chunks are read as one",
    },
    "synthesis": {
        "extractive": "the answer is made of the sources' own sentences; no model, nothing invented",
        "llm": "a chat model writes from numbered evidence and cites it",
    },
    "verification": {
        "lexical": "support and conflict are read from the words, numbers and negations; no model",
        "entailment": "a model reads claim and evidence together",
        "llm": "a chat model judges claim by claim; its quotes are checked",
    },
}
"""The reason for each choice, by the card's section and what was chosen."""


def pipeline_card(settings: Settings, index: LocalIndex) -> dict[str, dict[str, Any]]:
    """Chunking, embedding, retrieval, reranking, prompt and verification plan, each with its reason and its figures."""
    manifest, notes = index.manifest, index.notes
    splitter, embedder = manifest.get("splitter") or {}, manifest.get("embedder") or {}
    return {
        "index": {
            "documents": manifest["counts"]["documents"],
            "chunks": len(index),
            "created": manifest.get("created"),
            "format": manifest.get("format"),
        },
        "chunking": {
            "splitter": splitter.get("kind"),
            "why": WHY["chunking"].get(str(splitter.get("kind")), ""),
            "settings": {key: value for key, value in splitter.items() if key not in ("kind", "profiles")},
            "profiles": [profile["name"] for profile in splitter.get("profiles") or ()],
            "mean_characters": _mean_characters(index),
        },
        "embedding": {
            **embedder,
            "computed_by": _computed_by(settings.embed),
            "why": "the same model embeds chunks and questions; the manifest holds it to that",
        },
        "retrieval": {
            **_fields(settings.retrieve),
            "why": WHY["retrieval"].get(str(getattr(settings.retrieve, "fusion", settings.retrieve.kind)), ""),
            "trust_in_dense": round(trust(notes), 3),
            "measured": notes.get("arms"),
            "finding": diagnosis(notes),
        },
        "reranking": {**_fields(settings.rerank), "why": WHY["reranking"].get(settings.rerank.kind, "")},
        "expansion": {**_fields(settings.expand), "why": WHY["expansion"].get(settings.expand.kind, "")},
        "synthesis": {**_fields(settings.synthesize), "why": WHY["synthesis"].get(settings.synthesize.kind, "")},
        "verification": {**_fields(settings.verify), "why": WHY["verification"].get(settings.verify.level, "")},
    }


def _fields(component: Any) -> dict[str, Any]:
    values: dict[str, Any] = component.model_dump(mode="json")
    return values


def _computed_by(embedder: Embedder) -> str | None:
    """What computes the vectors; an index has a card also where its model cannot be loaded."""
    try:
        return embedder.computed_by
    except RagAppError as error:
        return f"nothing here: {error}"


def _mean_characters(index: LocalIndex, sample: int = 1000) -> float | None:
    """The mean size of up to `sample` chunks, evenly over the index; None when it is empty."""
    ids = index.chunk_ids()
    chunks = index.get(ids[:: max(1, len(ids) // sample)])
    return round(sum(len(chunk.page_content) for chunk in chunks) / len(chunks), 1) if chunks else None
