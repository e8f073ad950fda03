"""The local index as a LangChain `VectorStore`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from rag_app.embed import overlong
from rag_app.index.base import FilterLike
from rag_app.index.local import LocalIndex
from rag_app.index.local.records import text_to_index
from rag_app.index.settings import IndexSettings
from rag_app.index.store_retriever import LocalStoreRetriever
from rag_app.index.temporary import named, put_whole, temporary_index
from rag_app.types import ConfigError, Hit

S = TypeVar("S", bound="LocalVectorStore")
# What LangChain's other searches take; a retriever's `search_kwargs` may hold them whatever its search type.
_OTHER_SEARCHES = frozenset({"fetch_k", "lambda_mult", "score_threshold"})


class LocalVectorStore(VectorStore):
    """Texts under ids of your own, searched by cosine, exactly; each call of `add_*` and `delete` is one commit.

    Scores are cosines in [-1, 1], higher is better; relevance is (1 + cosine) / 2. Filters are those of
    `rag_app.filters` and restrict what is searched, so min(k, matches) documents come back.
    """

    def __init__(
        self,
        embedding: Embeddings | None = None,
        path: str | Path | None = None,
        *,
        index: LocalIndex | None = None,
        settings: IndexSettings | None = None,
    ) -> None:
        """Over the index at `path` (made when it is not there), or over `index`."""
        if (index is None) == (path is None):
            raise ConfigError("LocalVectorStore: give it a folder, `path=`, or an index, `index=`, and not both")
        if index is None and path is not None:
            index = LocalIndex.open_or_create(path, embedder=embedding, settings=settings)
        self.index: LocalIndex = cast(LocalIndex, index)
        self._given = embedding

    @property
    def embeddings(self) -> Embeddings:
        """The embedding model, as it was given."""
        return self._given if self._given is not None else self.index.embedder

    # --------------------------------------------------------------------------------------------------------- writing

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Put in texts; an id that is there already is replaced. Without ids, new ones are made."""
        given = list(texts)
        for name, values in (("metadatas", metadatas), ("ids", ids)):
            if values is not None and len(values) != len(given):
                raise ConfigError(f"{name}: {len(values)} for {len(given)} texts; give one each")
        documents = [
            Document(page_content=text, metadata=metadatas[i] if metadatas else {}, id=ids[i] if ids else None)
            for i, text in enumerate(given)
        ]
        return self.add_documents(documents)

    def add_documents(self, documents: list[Document], *, ids: list[str] | None = None, **kwargs: Any) -> list[str]:
        """Put in documents as they are, under `ids`, their own ids, or new ones; the last of two equal ids counts."""
        names, chunks = named(documents, ids)
        self._warn_overlong(chunks)
        put_whole(self.index, chunks)
        return names

    def _warn_overlong(self, chunks: Sequence[Document]) -> None:
        texts, names = [text_to_index(chunk) for chunk in chunks], [str(chunk.id) for chunk in chunks]
        for message in overlong(self.index.embedder, texts, names):
            warnings.warn(message, UserWarning, stacklevel=4)

    def delete(self, ids: list[str] | None = None, *, filter: FilterLike = None, **kwargs: Any) -> bool:
        """Take out ids (unknown ones are no fault), or what passes the filter; with neither, everything."""
        if kwargs:  # a slip in the name of `filter` must not take out everything
            raise ConfigError(f"delete: there is no {next(iter(kwargs))!r}; there are ids and filter")
        with self.index.transaction():
            if ids is None:
                self.index.delete(filter=filter or {})
            else:
                self.index.delete(ids=_names(ids), filter=filter)
        return True

    # --------------------------------------------------------------------------------------------------------- reading

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents that are there, in the order of `ids`."""
        return self.index.get(_names(ids))

    def _found(self, hits: Sequence[Hit]) -> list[tuple[Document, float]]:
        documents = self.index.get([hit.chunk_id for hit in hits])
        return [(document, hit.score) for document, hit in zip(documents, hits, strict=True)]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The k documents nearest to the query; `filter=...` restricts what is searched."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: FilterLike = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k documents nearest to the query with their cosines."""
        _refuse_unknown(kwargs)
        return self._found(self.index.dense(query, k=k, filter=filter))

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, filter: FilterLike = None, **kwargs: Any
    ) -> list[Document]:
        """The k documents nearest to a vector."""
        scored = self.similarity_search_with_score_by_vector(embedding, k, filter, **kwargs)
        return [document for document, _ in scored]

    def similarity_search_with_score_by_vector(
        self, embedding: Sequence[float], k: int = 4, filter: FilterLike = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k documents nearest to a vector with their cosines."""
        _refuse_unknown(kwargs)
        return self._found(self.index.dense_by_vectors([embedding], k=k, filters=[filter])[0])

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return relevance

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: FilterLike = None,
        **kwargs: Any,
    ) -> list[Document]:
        """k documents, near to the query and unlike each other."""
        vector = self.index.embed_query(query).tolist()
        return self.max_marginal_relevance_search_by_vector(vector, k, fetch_k, lambda_mult, filter, **kwargs)

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: FilterLike = None,
        **kwargs: Any,
    ) -> list[Document]:
        """k of the `fetch_k` nearest, each next one by nearness (times `lambda_mult`) less likeness to those taken.

        Carbonell and Goldstein, "The use of MMR", SIGIR 1998.
        """
        _refuse_unknown(kwargs)
        hits = self.index.dense_by_vectors([embedding], k=max(k, fetch_k), filters=[filter])[0]
        ids = [hit.chunk_id for hit in hits]
        order = mmr([hit.score for hit in hits], self.index.vectors(ids), k=k, lambda_mult=lambda_mult)
        return self.index.get([ids[i] for i in order])

    def as_retriever(self, **kwargs: Any) -> LocalStoreRetriever:
        """LangChain's retriever over the store: `search_type` similarity, similarity_score_threshold or mmr."""
        tags = kwargs.pop("tags", None) or [*self._get_retriever_tags()]
        return LocalStoreRetriever(vectorstore=self, tags=tags, **kwargs)

    # ---------------------------------------------------------------------------------------------------------- making

    @classmethod
    def from_texts(
        cls: type[S],
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        path: str | Path | None = None,
        settings: IndexSettings | None = None,
        **kwargs: Any,
    ) -> S:
        """A store in the folder `path` with these texts; without a path, in a folder that goes with the store."""
        index = temporary_index(embedding, settings) if path is None else None
        store = cls(embedding, path, index=index, settings=settings)
        store.add_texts(texts, metadatas, ids=ids)
        return store


def _names(ids: Sequence[Any]) -> list[str]:
    """The ids as they are stored: as text."""
    if isinstance(ids, str):
        raise ConfigError(f"ids: expected a list of strings, found the string {ids!r}")
    return [str(one) for one in ids]


def _refuse_unknown(kwargs: Mapping[str, Any]) -> None:
    """ConfigError for a keyword that would be passed over in silence: it may be meant as a filter."""
    unknown = [name for name in kwargs if name not in _OTHER_SEARCHES]
    if unknown:
        raise ConfigError(f"search: there is no {unknown[0]!r}; there are k and filter")


def relevance(cosine: float) -> float:
    """Cosine [-1, 1] to [0, 1], monotone."""
    return min(1.0, max(0.0, (1.0 + cosine) / 2.0))


def mmr(scores: Sequence[float], vectors: npt.NDArray[np.float32], *, k: int, lambda_mult: float) -> list[int]:
    """Places of up to k rows by maximal marginal relevance; ties go to the earlier place."""
    left = list(range(len(scores)))
    taken: list[int] = []
    likeness = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    while left and len(taken) < k:
        best = max(
            left,
            key=lambda i: (
                lambda_mult * scores[i] - (1 - lambda_mult) * max((likeness[i, j] for j in taken), default=0.0),
                -i,
            ),
        )
        left.remove(best)
        taken.append(best)
    return taken
