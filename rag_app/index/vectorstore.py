"""The local index as a LangChain `VectorStore`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

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
from rag_app.index.temporary import named, put_whole, temporary_index
from rag_app.types import ConfigError, Hit

S = TypeVar("S", bound="LocalVectorStore")


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
        if index is None:
            if path is None:
                raise ConfigError("LocalVectorStore: give it a folder, `path=`, or an index, `index=`")
            index = LocalIndex.open_or_create(path, embedder=embedding, settings=settings)
        self.index = index
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
        with self._writing():
            put_whole(self.index, chunks)
        return names

    def _warn_overlong(self, chunks: Sequence[Document]) -> None:
        texts, names = [text_to_index(chunk) for chunk in chunks], [str(chunk.id) for chunk in chunks]
        for message in overlong(self.index.embedder, texts, names):
            warnings.warn(message, UserWarning, stacklevel=4)

    def _writing(self) -> _Writing:
        return _Writing(self.index)

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Take out ids (unknown ones are no fault), or with `filter=...` what passes it; with neither, everything."""
        with self._writing():
            if ids is None:
                self.index.delete(filter=kwargs.get("filter") or {})
            else:
                self.index.delete(ids=ids)
            self.index.commit()
        return True

    # --------------------------------------------------------------------------------------------------------- reading

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents that are there."""
        return self.index.get(ids)

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
        return self._found(self.index.dense(query, k=k, filter=filter))

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, filter: FilterLike = None, **kwargs: Any
    ) -> list[Document]:
        """The k documents nearest to a vector."""
        return [document for document, _ in self.similarity_search_with_score_by_vector(embedding, k, filter)]

    def similarity_search_with_score_by_vector(
        self, embedding: Sequence[float], k: int = 4, filter: FilterLike = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k documents nearest to a vector with their cosines."""
        return self._found(self.index.dense_by_vectors([list(embedding)], k=k, filters=filter)[0])

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
        vector = self.index.embed_query(query)
        return self.max_marginal_relevance_search_by_vector(list(vector), k, fetch_k, lambda_mult, filter)

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
        hits = self.index.dense_by_vectors([embedding], k=max(k, fetch_k), filters=filter)[0]
        ids = [hit.chunk_id for hit in hits]
        order = mmr([hit.score for hit in hits], self.index.vectors(ids), k=k, lambda_mult=lambda_mult)
        return self.index.get([ids[i] for i in order])

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


class _Writing:
    """An exception inside leaves the index as it was, and its lock free."""

    def __init__(self, index: LocalIndex) -> None:
        self._index = index

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._index.close()


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
