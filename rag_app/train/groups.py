"""What a reranker learns from: a question, a passage that answers it, and passages that only look as if they did."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document


@dataclass(frozen=True, slots=True)
class Group:
    """One question with its passages; the first is relevant, the others are not."""

    query: str
    passages: tuple[str, ...]


def mine_groups(
    retriever: Any,
    queries: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    *,
    negatives: int = 5,
    depth: int = 30,
    seed: int = 0,
) -> list[Group]:
    """One group for each relevant document of each query: its best chunk, and `negatives` hard ones.

    Hard negatives are drawn from the first `depth` chunks that `retriever` finds and nobody judged relevant. `qrels`
    name sources. A relevant document of which no chunk can be found is left out. Deterministic.
    """
    found = retriever.batch(list(queries.values()), k=depth)
    groups: list[Group] = []
    for (query_id, query), documents in zip(queries.items(), found, strict=True):
        relevant = sorted(source for source, grade in qrels[query_id].items() if grade > 0)
        wrong = [document for document in documents if _source(document) not in set(relevant)]
        for source in relevant:
            right = _best_chunk(retriever, query, source, documents)
            if right is None or not wrong:
                continue
            draw = random.Random(f"{seed} {query_id} {source}")
            drawn = draw.sample(wrong, min(negatives, len(wrong)))
            groups.append(Group(query, (right.page_content, *(document.page_content for document in drawn))))
    return groups


def _best_chunk(retriever: Any, query: str, source: str, documents: Sequence[Document]) -> Document | None:
    for document in documents:
        if _source(document) == source:
            return document
    found: list[Document] = retriever.invoke(query, k=1, filter={"source": source})
    return found[0] if found else None


def _source(document: Document) -> str:
    return str(document.metadata.get("source", document.id))


def held_out_ids(query_ids: Sequence[str], share: float, *, seed: int = 0) -> set[str]:
    """About `share` of the queries, by lot; at least one, and at least one is left."""
    order = sorted(query_ids)
    random.Random(seed).shuffle(order)
    return set(order[: max(1, min(len(order) - 1, round(share * len(order))))])
