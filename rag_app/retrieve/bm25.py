"""Retrieval by words."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from langchain_core.documents import Document

from rag_app.retrieve.base import FilterLike, TracedRetriever
from rag_app.trace import Ranked, RetrievalTrace
from rag_app.types import ConfigError

if TYPE_CHECKING:
    from rag_app.retrieve.dense import DenseRanking


class BM25Retriever(TracedRetriever):
    """Chunks by BM25 score; a chunk that shares no word with the query never comes back.

    Over an index, or with `from_texts` and `from_documents` over texts at hand, as LangChain's retriever of this name.
    """

    kind: Literal["bm25"] = "bm25"

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        metadatas: Iterable[dict[str, Any]] | None = None,
        ids: Iterable[str | None] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Over these texts; ConfigError when there is not one metadata or id for each. The rest: `from_documents`."""
        given = list(texts)
        known = [{}] * len(given) if metadatas is None else list(metadatas)
        names = [None] * len(given) if ids is None else list(ids)
        for name, values in (("metadatas", known), ("ids", names)):
            if len(values) != len(given):
                raise ConfigError(f"{name}: {len(values)} for {len(given)} texts; give one each")
        rows = zip(given, known, names, strict=True)
        documents = [Document(page_content=text, metadata=dict(facts), id=name) for text, facts, name in rows]
        return cls.from_documents(documents, **kwargs)

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document],
        *,
        k: int | None = None,
        bm25_variant: Literal["lucene", "okapi", "plus", "l"] = "lucene",
        bm25_params: Mapping[str, float] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Over these documents, in an index that goes with the retriever; `k` is `top_k`, other names are fields.

        Each document keeps its id, or is given one. `bm25_params` are fields of `BM25Settings`: `k1`, `b`, `delta`.
        """
        from rag_app.index import BM25Settings, IndexSettings
        from rag_app.index.temporary import named, put_whole, temporary_index

        formula = BM25Settings.model_validate({"variant": bm25_variant, **(bm25_params or {})})
        index = temporary_index(None, IndexSettings(bm25=formula))
        _, chunks = named(list(documents))
        put_whole(index, chunks)
        return cls(index=index, **({} if k is None else {"top_k": k}), **kwargs)

    def search(self, query: str, *, k: int, filter: FilterLike | None, dense: DenseRanking | None = None) -> Ranked:
        started = time.perf_counter()
        hits = self.corpus.bm25(query, k=k, filter=filter)
        return self.ranked(RetrievalTrace(query).add("bm25", hits, seconds=time.perf_counter() - started), hits)
