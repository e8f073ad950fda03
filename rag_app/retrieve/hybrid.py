"""Words and vectors, and any other retriever, fused into one ranking."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, run_in_executor, set_config_context
from pydantic import Field, model_validator

from rag_app.retrieve.arms import auto_weights, refinement, trust
from rag_app.retrieve.base import FilterLike, TracedRetriever
from rag_app.retrieve.dense import DenseRanking, rank_by_vectors
from rag_app.retrieve.diversity import diversify
from rag_app.retrieve.foreign import Arm, ask_all, ask_all_async, complete, name_arms
from rag_app.retrieve.fusion import Normalization, linear_fusion, reciprocal_rank_fusion, scaling
from rag_app.trace import Ranked, RetrievalTrace, annotate, rank
from rag_app.types import Hit

Fusion = Literal["rrf", "linear", "dbsf"]


class HybridRetriever(TracedRetriever):
    """Chunks by the fused ranking of BM25, vectors and any retrievers given in `retrievers`.

    `weights: auto` follows what the index found out about its own arms when it was built: an embedder that does not
    know the corpus's language gets little say. `fixed` takes `bm25_weight` and `dense_weight` (and 1 for every foreign
    arm); a list gives one weight per arm, in order. Takes the arguments of LangChain's `EnsembleRetriever` too:
    `HybridRetriever(retrievers=[a, b], weights=[.5, .5], c=60, id_key="id")`.
    """

    kind: Literal["hybrid"] = "hybrid"
    fusion: Fusion = Field(default="rrf", description="Reciprocal ranks, scaled scores, or distribution-based scores.")
    rrf_k: int = Field(
        default=20, ge=0, description="The k of reciprocal rank fusion; 60 is the paper's, and an ensemble's default."
    )
    missing_rank: int | None = Field(default=None, ge=1, description="The rank of a chunk in an arm that lacks it.")
    normalization: Normalization = Field(default="top", description="How linear fusion scales each arm's scores.")
    weights: Literal["auto", "fixed"] | list[float] = Field(default="auto", description="How much say each arm has.")
    bm25_weight: float = Field(default=0.5, ge=0, description="The say of words, when weights are fixed.")
    dense_weight: float = Field(default=0.5, ge=0, description="The say of vectors, when weights are fixed.")
    complete: bool = Field(
        default=True, description="Linear fusion scores each candidate in both arms, also where it was not ranked."
    )
    near_duplicates: float | None = Field(
        default=None, gt=0, le=1, description="Leave out a chunk whose cosine with a better one is at least this."
    )
    mmr: float | None = Field(
        default=None, ge=0, le=1, description="Trade relevance (1) for novelty (0) among the best 5 x top_k."
    )
    fetch_k: int = Field(default=100, ge=1, description="How deep each arm ranks before fusion; at least top_k.")
    on_error: Literal["raise", "degrade"] = Field(default="raise", description="What a failing arm does.")
    id_key: str | None = Field(default=None, exclude=True, repr=False)
    retrievers: list[Any] = Field(default_factory=list, exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _ensemble_arguments(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        values = dict(values)
        if "c" in values:
            values["rrf_k"] = values.pop("c")
        if values.get("retrievers") and values.get("index") is None:
            # Without an index of its own it is LangChain's ensemble, with that one's defaults.
            values.setdefault("rrf_k", 60)
            if values.get("weights") is None:
                values["weights"] = [1 / len(values["retrievers"])] * len(values["retrievers"])
        return values

    @model_validator(mode="after")
    def _weights_fit(self) -> HybridRetriever:
        if isinstance(self.weights, list):
            arms = len(self.retrievers) + (0 if self.index is None and self.retrievers else 2)
            if len(self.weights) != arms:
                raise ValueError(f"{len(self.weights)} weights for {arms} arms; give one per arm")
            if min(self.weights) < 0 or not any(self.weights):
                raise ValueError("weights must not be below 0, and one must be above 0")
        return self

    # -- LangChain's side ----------------------------------------------------------------------------------------

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        if not self.retrievers:
            return super().invoke(input, config, **kwargs)
        # Tags, metadata and configurable values reach the arms through LangChain's context; callbacks are handed on.
        with set_config_context(ensure_config(config)) as context:
            return context.run(super().invoke, input, config, **kwargs)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        k: int | None = None,
        top_k: int | None = None,
        filter: FilterLike | None = None,
        dense: DenseRanking | None = None,
    ) -> list[Document]:
        if not query.strip():
            return Ranked(trace=RetrievalTrace(query, warnings=("the query is blank",)))
        count, condition = self.count(k, top_k), self.filter_for(filter)
        arms = self._index_arms(query, count, condition, dense)
        callbacks = run_manager.get_child() if run_manager is not None else None
        arms += ask_all(self._named(), query, k=self._depth(count), filter=condition, callbacks=callbacks)
        return self.fuse(query, arms, k=count)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        top_k: int | None = None,
        filter: FilterLike | None = None,
        dense: DenseRanking | None = None,
    ) -> list[Document]:
        if not query.strip():
            return Ranked(trace=RetrievalTrace(query, warnings=("the query is blank",)))
        count, condition = self.count(k, top_k), self.filter_for(filter)
        own = run_in_executor(None, self._index_arms, query, count, condition, dense)
        arms = await ask_all_async(
            self._named(),
            query,
            k=self._depth(count),
            filter=condition,
            callbacks=run_manager.get_child(),
            beside=own,
            degrade=self.on_error == "degrade",
        )
        return await run_in_executor(None, self.fuse, query, arms, k=count)

    def dense_rankings(
        self, queries: Sequence[str], *, k: int, filters: Sequence[FilterLike | None]
    ) -> list[DenseRanking] | None:
        if not self._has_index():
            return None
        try:
            return rank_by_vectors(self.corpus, queries, k=self._depth(k), filters=filters)
        except Exception:
            if self.on_error == "raise":
                raise
            return None  # each query then meets the failure itself, and says so in its trace

    # -- the arms ------------------------------------------------------------------------------------------------

    def _has_index(self) -> bool:
        return self.index is not None or not self.retrievers

    def _depth(self, k: int) -> int:
        return max(self.fetch_k, k)

    def _named(self) -> dict[str, Any]:
        return name_arms(self.retrievers, taken=(self.fusion, *(("bm25", "dense") if self._has_index() else ())))

    def _index_arms(self, query: str, k: int, filter: FilterLike | None, dense: DenseRanking | None) -> list[Arm]:
        if not self._has_index():
            return []
        depth, index, vector = self._depth(k), self.corpus, None
        words = Arm.of("bm25", lambda: index.bm25(query, k=depth, filter=filter))

        def nearest() -> tuple[Hit, ...]:
            nonlocal vector
            found = dense or rank_by_vectors(index, [query], k=depth, filters=[filter])[0]
            vector = found.vector
            return found.hits[:depth]

        vectors = Arm.of("dense", nearest)
        if self.fusion == "rrf" or not self.complete or vectors.error is not None or words.error is not None:
            return [words, vectors]
        return complete(index, query, vector, words, vectors)

    def arm_weights(self, names: Sequence[str]) -> dict[str, float]:
        """The weight of each arm, by name."""
        if isinstance(self.weights, list):
            return dict(zip(names, self.weights, strict=True))
        own = {"bm25": self.bm25_weight, "dense": self.dense_weight}
        if self.weights == "auto" and self._has_index():
            own = auto_weights(self.corpus.notes, fusion=self.fusion)
        return {name: own.get(name, 1.0) if self._has_index() else 1.0 for name in names}

    # -- fusion --------------------------------------------------------------------------------------------------

    def fuse(self, query: str, arms: Sequence[Arm], *, k: int) -> Ranked:
        """One ranking of what the arms found, and the trace of how it came about."""
        started = time.perf_counter()
        weights = self.arm_weights([arm.name for arm in arms])
        trace = RetrievalTrace(query)
        failed = [arm for arm in arms if arm.error is not None]
        if failed and (self.on_error == "raise" or len(failed) == len(arms)):
            raise failed[0].error  # type: ignore[misc]
        for arm in failed:
            trace = trace.add(arm.name, warnings=(f"{arm.name} failed and was left out: {arm.error}",))
        alive = [arm.identified(arms, id_key=self.id_key) for arm in arms if arm.error is None]
        for arm in alive:
            taken = {self.fusion, *(arm.name for arm in arms), *trace.rankings, *trace.parameters, *trace.timings}
            trace = trace.merge(arm.history_beside(taken))
            trace = trace.add(arm.name, arm.hits, warnings=arm.warnings, seconds=arm.seconds)
        fused, parameters = self._scores(alive, weights)
        hits = rank(fused)
        trace = trace.add(
            self.fusion, hits, parameters={**parameters, "top_k": k}, seconds=time.perf_counter() - started
        )
        if self._has_index() and (self.near_duplicates is not None or self.mmr is not None):
            hits, trace = diversify(self.corpus, hits, trace, k=k, duplicates=self.near_duplicates, mmr=self.mmr)
        return Ranked(annotate(self._documents(hits[:k], alive), trace), trace)

    def _scores(self, arms: Sequence[Arm], weights: Mapping[str, float]) -> tuple[dict[str, float], dict[str, Any]]:
        shares = [weights[arm.name] for arm in arms]
        known = self.weights == "auto" and self._has_index()
        parameters: dict[str, Any] = {"weights": {arm.name: weights[arm.name] for arm in arms}}
        if known:
            notes = self.corpus.notes
            parameters |= {"trust": round(trust(notes), 4), "refinement": round(refinement(notes), 4)}
        if self.fusion == "rrf":
            parameters |= {"k": self.rrf_k, "missing_rank": self.missing_rank}
            rankings = [[hit.chunk_id for hit in arm.hits] for arm in arms]
            fused = reciprocal_rank_fusion(rankings, k=self.rrf_k, weights=shares, missing_rank=self.missing_rank)
            return fused, parameters
        normalization: Normalization = "distribution" if self.fusion == "dbsf" else self.normalization
        scores = [{hit.chunk_id: hit.score for hit in arm.hits} for arm in arms]
        for arm, each in zip(arms, scores, strict=True):
            parameters.setdefault("scaling", {})[arm.name] = scaling(each.values(), normalization).as_parameters()
        completed = [arm.completed for arm in arms]
        if any(completed):
            parameters["completed"] = {arm.name: dict(arm.completed) for arm in arms}
        fused = linear_fusion(scores, weights=shares, normalization=normalization, completed=completed)
        return fused, parameters

    def _documents(self, hits: Sequence[Hit], arms: Sequence[Arm]) -> list[Document]:
        ids = [hit.chunk_id for hit in hits]
        foreign: dict[str, Document] = {}
        for arm in arms:
            for chunk_id, document in arm.documents.items():
                foreign.setdefault(chunk_id, document)
        missing = [chunk_id for chunk_id in ids if chunk_id not in foreign]
        stored = {str(document.id): document for document in self.corpus.get(missing)} if missing else {}
        found = {**foreign, **stored}
        return [
            found[chunk_id] if found[chunk_id].id == chunk_id else found[chunk_id].model_copy(update={"id": chunk_id})
            for chunk_id in ids
            if chunk_id in found
        ]
