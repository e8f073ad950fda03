"""What an embedding model is here: texts in, unit rows out, and a fingerprint that says which model it was."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings
from pydantic import BaseModel, ConfigDict, PrivateAttr

from rag_app.embed.long import window_parts
from rag_app.embed.retry import with_retry
from rag_app.text.normalize import well_formed
from rag_app.types import ConfigError, EmbeddingError

Matrix = npt.NDArray[np.float32]


def unit_rows(vectors: npt.ArrayLike) -> Matrix:
    """Rows scaled to length 1, float32; rows of length below .01 or with NaN stay as they are, for the checks."""
    rows = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(rows.astype(np.float64), axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        scale = np.where(norms >= 0.01, norms, 1.0)
    return np.asarray(rows / scale, dtype=np.float32)


class Embedder(BaseModel, Embeddings, ABC):
    """An embedding model: a LangChain `Embeddings` that also knows its name, dimension and window.

    A member sets `_encode`; batching, the order by length, duplicates, prefixes and unit length are done here.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    batch_size: int = 32

    # Seconds to wait before each further try of a failed batch; models behind a network have some.
    retry_waits: ClassVar[tuple[float, ...]] = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The model's name, as a person would write it."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Numbers in a vector."""

    @property
    def max_tokens(self) -> int | None:
        """Tokens the model reads, its special tokens included; the rest is cut. None when it reads all."""
        return None

    @property
    def revision(self) -> str | None:
        """Which version of the weights, where that is known."""
        return None

    @property
    def prefixes(self) -> tuple[str, str]:
        """What is put before a query and before a passage (E5, BGE, nomic); usually nothing."""
        return ("", "")

    @property
    def computed_by(self) -> str | None:
        """What computes the vectors, and with which numbers, where that is a choice; it may load the model."""
        return None

    @abstractmethod
    def _encode(self, texts: Sequence[str], *, query: bool) -> npt.ArrayLike:
        """Vectors for one batch, prefixes already there: (n, d), of any length."""

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Matrix:
        """(n, d) float32, rows of unit norm, in the order of `texts`. No texts: (0, d).

        A passage above the window is read part by part; its row is the mean of theirs, weighted by their tokens. Equal
        texts get equal rows. Lone surrogates, which no model reads, count as U+FFFD. A row shorter than .01 is left as
        it is: `checks.check_vectors` refuses it.
        """
        texts = [well_formed(text) for text in texts]
        window = self.max_tokens
        if query or window is None:
            return self._encode_parts(texts, query=query)
        prefix = self.prefixes[1]
        room = max(8, window - self.count_tokens(prefix)) if prefix else window
        parts = {text: window_parts(text, self.count_tokens, room) for text in dict.fromkeys(texts)}
        rows = self._encode_parts([part for text in texts for part, _ in parts[text]], query=False)
        if len(rows) == len(texts):
            return rows
        weights = np.array([[size] for text in texts for _, size in parts[text]], dtype=np.float32)
        starts = np.cumsum([0, *(len(parts[text]) for text in texts[:-1])])
        means = unit_rows(np.add.reduceat(rows * weights, starts) / np.add.reduceat(weights, starts))
        single = np.array([len(parts[text]) == 1 for text in texts])[:, None]
        return np.where(single, rows[starts], means)

    def _encode_parts(self, texts: Sequence[str], *, query: bool) -> Matrix:
        prefix = self.prefixes[0 if query else 1]
        order = sorted(dict.fromkeys(texts), key=lambda text: (len(text), text))
        if not order:
            return np.empty((0, self.dimension), dtype=np.float32)
        rows: list[Matrix] = []
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            call = functools.partial(self._encode, [prefix + text for text in batch], query=query)
            # Batches of passages are tried again by who sends many of them; somebody waits for a query.
            vectors = np.asarray(with_retry(call, self.retry_waits if query else ()), dtype=np.float32)
            if vectors.ndim != 2 or len(vectors) != len(batch):
                raise EmbeddingError(
                    f"{self.name} gave vectors of shape {vectors.shape} for {len(batch)} texts; "
                    "expected one row for each text, all of one dimension"
                )
            rows.append(unit_rows(vectors))
        place = {text: i for i, text in enumerate(order)}
        result: Matrix = np.concatenate(rows)[[place[text] for text in texts]]
        return result

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """LangChain's name for `encode(texts)`."""
        return [[float(x) for x in row] for row in self.encode(texts)]

    def embed_query(self, text: str) -> list[float]:
        """LangChain's name for `encode([text], query=True)[0]`."""
        return [float(x) for x in self.encode([text], query=True)[0]]

    def count_tokens(self, text: str) -> int:
        """Tokens the model makes of `text`, special tokens included; here an estimate from words."""
        return 2 + round(1.35 * len(text.split())) if text.strip() else 2

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[Matrix]:
        """One (t, d) matrix of unit rows for each text: the model's vector of each token, special tokens left out."""
        raise ConfigError(
            f"{self.name} gives no token vectors; late interaction needs `packaged` or `sentence-transformer`"
        )

    def fingerprint(self) -> dict[str, Any]:
        """What must be equal for two vectors to be comparable; it stands in the manifest of an index."""
        return {
            "name": self.name,
            "revision": self.revision,
            "dimension": self.dimension,
            "normalized": True,
            "prefixes": list(self.prefixes),
        }


class ForeignEmbedder(Embedder):
    """Any LangChain `Embeddings` as an `Embedder`; made by `as_embedder`."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    kind: str = "foreign"
    retry_waits: ClassVar[tuple[float, ...]] = (1.0, 2.0, 4.0)
    embeddings: Embeddings
    _dimension: int | None = PrivateAttr(default=None)

    @property
    def name(self) -> str:
        """The class, and its model where it names one."""
        model = getattr(self.embeddings, "model", None) or getattr(self.embeddings, "model_name", None)
        kind = type(self.embeddings).__name__
        return f"{kind}({model})" if isinstance(model, str) else kind

    @property
    def dimension(self) -> int:
        """Found by embedding one word, once."""
        if self._dimension is None:
            self._dimension = len(with_retry(lambda: self.embeddings.embed_query("dimension"), self.retry_waits))
        return self._dimension

    def _encode(self, texts: Sequence[str], *, query: bool) -> npt.ArrayLike:
        if query:
            return [self.embeddings.embed_query(text) for text in texts]
        return _rectangle(self.embeddings.embed_documents(list(texts)), self.name)


def _rectangle(rows: list[list[float]], name: str) -> Matrix:
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise EmbeddingError(f"{name} gave vectors of different dimensions in one batch: {lengths}")
    return np.asarray(rows, dtype=np.float32)


def as_embedder(embeddings: Embeddings) -> Embedder:
    """An `Embedder` as it is; any other LangChain `Embeddings` wrapped. ConfigError for what is neither."""
    if not isinstance(embeddings, Embeddings):
        raise ConfigError(f"expected an embedding model (LangChain's Embeddings), found {embeddings!r:.60}")
    return embeddings if isinstance(embeddings, Embedder) else ForeignEmbedder(embeddings=embeddings)
