"""What became of any chunk of the index, returned or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rag_app.filters import parse_filter
from rag_app.trace import Explanation, Removal, RetrievalTrace
from rag_app.types import ConfigError

if TYPE_CHECKING:
    from rag_app.index.base import Index


def explain(
    index: Index, trace: RetrievalTrace, chunk_id: str, *, filter: Mapping[str, Any] | None = None
) -> Explanation:
    """The trace's account of the chunk, filled up from the index where the chunk did not get far enough to be ranked.

    Ranks beyond a stage's depth are those among all chunks that pass the filter. Raises ConfigError for an unknown id.
    """
    stored = index.get([chunk_id])
    if not stored:
        raise ConfigError(f"there is no chunk {chunk_id!r} in the index; ids look like {{doc_id}}:{{start}}-{{end}}")
    found = trace.explain(chunk_id)
    stages = dict(found.stages)
    passes = not filter or parse_filter(dict(filter)).matches(stored[0].metadata)
    words = index.bm25_terms(trace.question, chunk_id) if "bm25" in trace.rankings else {}
    for stage, search in (("bm25", index.bm25), ("dense", index.dense)):
        if stage in trace.rankings and stage not in stages:
            hits = search(trace.question, k=len(index), filter=filter if passes else None)
            place = next((hit for hit in hits if hit.chunk_id == chunk_id), None)
            if place is not None:
                stages[stage] = {"rank": place.rank, "score": place.score}
    removed, reason = found.removed, None
    if not passes:
        removed = Removal(chunk_id, "retrieve", "filtered", f"its metadata do not pass {dict(filter or {})}")
    elif removed is None and not found.stages:
        depths = ", ".join(f"{stage} ranked {depth}" for stage, depth in found.depths.items())
        removed = Removal(chunk_id, "retrieve", "beyond top_k", f"no stage ranked it: {depths}")
    elif removed is None:
        reason = "it came back"
    return replace(found, stages=stages, words=words, removed=removed, reason=reason)
