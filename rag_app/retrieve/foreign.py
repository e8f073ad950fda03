"""Arms of a fusion: what one retriever found, ours or any of LangChain's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig

from rag_app.retrieve.base import FilterLike, TracedRetriever
from rag_app.retrieve.identity import identities
from rag_app.trace import Ranked, RetrievalTrace, finite, trace_of
from rag_app.types import ConfigError, Hit

if TYPE_CHECKING:
    from rag_app.index.base import Index


@dataclass(frozen=True, slots=True)
class Arm:
    """What one retriever found: `hits`, or an `error`; a foreign one brings its `documents` along.

    `completed` has the arm's scores of chunks that it did not rank and another arm did.
    """

    name: str
    hits: tuple[Hit, ...] = ()
    documents: Mapping[str, Document] = field(default_factory=dict)
    returned: tuple[Document, ...] = ()
    history: RetrievalTrace = field(default_factory=RetrievalTrace)
    completed: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    error: Exception | None = None
    seconds: float = 0.0

    @classmethod
    def of(cls, name: str, search: Callable[[], Sequence[Hit]]) -> Arm:
        """The arm of a search in the index; an exception becomes its `error`."""
        started = time.perf_counter()
        try:
            return cls(name, tuple(search()), seconds=time.perf_counter() - started)
        except Exception as error:
            return cls(name, error=error, seconds=time.perf_counter() - started)

    def history_beside(self, taken: Collection[str]) -> RetrievalTrace:
        """How the arm came to its ranking, under stage names that are not among `taken`.

        A retriever of one stage has told everything by its ranking. Of one with several, "rrf" becomes "arm/rrf" where
        another arm, or the fusion itself, ranks under that name.
        """
        stages = [*self.history.rankings, *self.history.parameters, *self.history.timings]
        if len(self.history.rankings) == 1:
            (only,) = self.history.rankings
            return self.history.renamed({only: self.name})
        names = {stage: f"{self.name}/{stage}" for stage in stages if stage in taken}
        return self.history.renamed(names)

    def identified(self, arms: Sequence[Arm], *, id_key: str | None) -> Arm:
        """A foreign arm with its hits named: identity looks at all arms, since ids may stand in one of them only."""
        if not self.returned:
            return self
        others = [arm.returned for arm in arms if arm is not self and arm.returned]
        names = identities([self.returned, *others], id_key=id_key)[0]
        scores = _scores(self.returned)
        documents: dict[str, Document] = {}
        hits: list[Hit] = []
        for chunk_id, document, score in zip(names, self.returned, scores, strict=True):
            if chunk_id not in documents:  # one vote per document per list, at its best rank
                documents[chunk_id] = document
                hits.append(Hit(chunk_id, score, len(hits) + 1))
        return replace(self, hits=tuple(hits), documents=documents)


def complete(index: Index, query: str, vector: Any, words: Arm, vectors: Arm) -> list[Arm]:
    """Both arms of an index, each with its score of what only the other one ranked."""
    by_words = [hit.chunk_id for hit in words.hits]
    by_vector = [hit.chunk_id for hit in vectors.hits]
    unread, unseen = set(by_vector) - set(by_words), set(by_words) - set(by_vector)
    bm25 = index.bm25_score(query, sorted(unread)) if unread else {}
    ids = sorted(unseen)
    cosines = (index.vectors(ids) @ vector).tolist() if ids else []
    return [
        replace(words, completed={i: float(score) for i, score in bm25.items()}),
        replace(vectors, completed=dict(zip(ids, cosines, strict=True))),
    ]


def name_arms(retrievers: Sequence[Any], *, taken: Sequence[str] = ()) -> dict[str, Any]:
    """A stage name for every retriever: the `kind` of ours, the class's name of others, numbered when taken."""
    named: dict[str, Any] = {}
    for retriever in retrievers:
        given = getattr(retriever, "name", None)
        base = str(given or getattr(retriever, "kind", None) or type(retriever).__name__)
        name, count = base, 1
        while name in named or name in taken:
            count += 1
            name = f"{base}-{count}"
        named[name] = retriever
    return named


def ask_all(
    retrievers: Mapping[str, Any], query: str, *, k: int, filter: FilterLike | None, callbacks: Any = None
) -> list[Arm]:
    """Every retriever's arm, asked at the same time in threads; in the order of `retrievers`."""
    if not retrievers:
        return []
    config = _config(callbacks)
    with ThreadPoolExecutor(max_workers=len(retrievers)) as pool:
        waiting = [
            pool.submit(copy_context().run, _ask, name, retriever, query, k, filter, config)
            for name, retriever in retrievers.items()
        ]
        return [each.result() for each in waiting]


async def ask_all_async(
    retrievers: Mapping[str, Any],
    query: str,
    *,
    k: int,
    filter: FilterLike | None,
    callbacks: Any,
    beside: Awaitable[list[Arm]],
    degrade: bool,
) -> list[Arm]:
    """The arms of `beside` and of every retriever, asked at the same time.

    Where a failing arm is an error, the first failure cancels the others; so does a cancellation from outside. Nothing
    is left running.
    """
    config = _config(callbacks)
    try:
        async with asyncio.TaskGroup() as group:
            own = group.create_task(_await(beside))
            tasks = [
                group.create_task(_ask_async(name, retriever, query, k, filter, config, degrade))
                for name, retriever in retrievers.items()
            ]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [*own.result(), *(task.result() for task in tasks)]


async def _await(awaitable: Awaitable[list[Arm]]) -> list[Arm]:
    return await awaitable


def _config(callbacks: Any) -> RunnableConfig:
    return {"callbacks": callbacks} if callbacks is not None else {}


def _ask(name: str, retriever: Any, query: str, k: int, filter: FilterLike | None, config: RunnableConfig) -> Arm:
    started = time.perf_counter()
    try:
        documents = retriever.invoke(query, config, **_arguments(retriever, k, filter))
        return _arm(name, retriever, documents, filter, started)
    except Exception as error:
        return Arm(name, error=error, seconds=time.perf_counter() - started)


async def _ask_async(
    name: str, retriever: Any, query: str, k: int, filter: FilterLike | None, config: RunnableConfig, degrade: bool
) -> Arm:
    started = time.perf_counter()
    try:
        documents = await retriever.ainvoke(query, config, **_arguments(retriever, k, filter))
        return _arm(name, retriever, documents, filter, started)
    except Exception as error:
        if not degrade:
            raise
        return Arm(name, error=error, seconds=time.perf_counter() - started)


def _arguments(retriever: Any, k: int, filter: FilterLike | None) -> dict[str, Any]:
    """Ours take depth and filter; a foreign retriever is asked as it is, and filtered afterwards."""
    return {"k": k, "filter": filter} if isinstance(retriever, TracedRetriever) else {}


def _arm(name: str, retriever: Any, found: Any, filter: FilterLike | None, started: float) -> Arm:
    if not isinstance(found, str | Sequence):
        raise ConfigError(f"{name} returned {found!r:.80}, not documents; mend it, or take it out of `retrievers`")
    documents = list(found) if not isinstance(found, str) else [Document(page_content=found)]
    documents = [each if isinstance(each, Document) else Document(page_content=str(each)) for each in documents]
    warnings: tuple[str, ...] = ()
    if filter and not isinstance(retriever, TracedRetriever):
        documents, dropped = _passing(documents, filter)
        if dropped:
            warnings = (f"{name} does not take filters: {dropped} of its documents were filtered after it had ranked",)
    ranked = found if isinstance(retriever, BaseRetriever) and isinstance(found, Ranked) else None
    history = RetrievalTrace() if ranked is None else trace_of(ranked)
    seconds = time.perf_counter() - started
    return Arm(name, returned=tuple(documents), history=history, warnings=warnings, seconds=seconds)


def _passing(documents: Sequence[Document], filter: FilterLike) -> tuple[list[Document], int]:
    from rag_app.filters import parse_filter

    condition = parse_filter(dict(filter))
    kept = [document for document in documents if condition.matches(document.metadata)]
    return kept, len(documents) - len(kept)


def _scores(documents: Sequence[Document]) -> list[float]:
    """The arm's own scores where every document has one and they fall; else 1 / rank."""
    for read in (_last_stage, lambda d: d.metadata.get("relevance_score"), lambda d: d.metadata.get("score")):
        numbers = [number for number in map(finite, map(read, documents)) if number is not None]
        if len(numbers) == len(documents) and all(a >= b for a, b in pairwise(numbers)):
            return numbers
    return [1 / place for place in range(1, len(documents) + 1)]


def _last_stage(document: Document) -> Any:
    stages = document.metadata.get("stages")  # the key may be a person's own
    last = list(stages.values())[-1] if isinstance(stages, Mapping) and stages else None
    return last.get("score") if isinstance(last, Mapping) else None
