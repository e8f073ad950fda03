"""Any sentence-transformers model, by name on the hub or by folder."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from rag_app.backend.hub import only_local
from rag_app.embed.base import Embedder, Matrix, unit_rows
from rag_app.types import ConfigError, ModelError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# (query, passage) by the part of the name that tells the family; from the models' own cards.
_FAMILY_PREFIXES: tuple[tuple[str, tuple[str, str]], ...] = (
    (
        "e5-mistral",
        ("Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ", ""),
    ),
    ("multilingual-e5-large-instruct", ("Instruct: Retrieve passages that answer the query\nQuery: ", "")),
    ("e5-", ("query: ", "passage: ")),
    ("bge-m3", ("", "")),
    ("bge-small-zh", ("为这个句子生成表示以用于检索相关文章：", "")),
    ("bge-base-zh", ("为这个句子生成表示以用于检索相关文章：", "")),
    ("bge-large-zh", ("为这个句子生成表示以用于检索相关文章：", "")),
    ("bge-", ("Represent this sentence for searching relevant passages: ", "")),
    ("nomic-embed-text", ("search_query: ", "search_document: ")),
    ("snowflake-arctic-embed-m-v2", ("query: ", "")),
    ("snowflake-arctic-embed-l-v2", ("query: ", "")),
    ("snowflake-arctic-embed", ("Represent this sentence for searching relevant passages: ", "")),
    ("mxbai-embed", ("Represent this sentence for searching relevant passages: ", "")),
)


def family_prefixes(model: str) -> tuple[str, str]:
    """What the model's family puts before a query and a passage; nothing for families not known here."""
    return _of_family(model) or ("", "")


def _of_family(model: str) -> tuple[str, str] | None:
    name = model.lower()
    return next((prefixes for part, prefixes in _FAMILY_PREFIXES if part in name), None)


def declared_prefixes(prompts: Mapping[str, str] | None) -> tuple[str, str]:
    """The prompts that a model's own files name for a query and for a passage; nothing where they name none."""
    named = prompts or {}
    passage = next((named[key] for key in ("document", "passage", "corpus") if named.get(key)), "")
    return named.get("query") or "", passage


class SentenceTransformerEmbedder(Embedder):
    """A model that the package sentence-transformers can load.

    Prefixes are the settings' where given, else those of the model's family (E5, BGE, nomic, Arctic, mxbai), else the
    prompts that the model's own files declare.
    """

    kind: Literal["sentence-transformer"] = "sentence-transformer"
    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    model_revision: str | None = None
    device: str | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    truncate_dimension: int | None = Field(default=None, ge=8)
    trust_remote_code: bool = False

    @property
    def name(self) -> str:
        """The setting `model`."""
        return self.model

    @property
    def revision(self) -> str | None:
        """The setting `model_revision`."""
        return self.model_revision

    @property
    def dimension(self) -> int:
        """The model's, or `truncate_dimension`."""
        return self.truncate_dimension or int(_dimension(self._loaded()))

    @property
    def max_tokens(self) -> int | None:
        """The model's own window."""
        return self._loaded().max_seq_length

    @property
    def prefixes(self) -> tuple[str, str]:
        """The settings, else the family's, else the model's own."""
        if self.query_prefix is not None and self.passage_prefix is not None:
            return self.query_prefix, self.passage_prefix
        query, passage = _of_family(self.model) or declared_prefixes(getattr(self._loaded(), "prompts", None))
        return (
            query if self.query_prefix is None else self.query_prefix,
            passage if self.passage_prefix is None else self.passage_prefix,
        )

    def _loaded(self) -> SentenceTransformer:
        return _load(self.model, self.model_revision, self.device, self.truncate_dimension, self.trust_remote_code)

    def _encode(self, texts: Sequence[str], *, query: bool) -> npt.ArrayLike:
        vectors: Any = self._loaded().encode(
            list(texts),
            prompt="",  # the prefix is there already; a default prompt of the model would be a second one
            batch_size=self.batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(vectors, dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        """The tokenizer's count, special tokens included, before any cut."""
        tokenizer: Any = self._loaded().tokenizer
        return len(tokenizer(text, truncation=False, verbose=False)["input_ids"])

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[Matrix]:
        """One row for each token, without the first and the last (the special ones)."""
        prefix = self.prefixes[0 if query else 1]
        rows: Any = self._loaded().encode(
            [prefix + text for text in texts],
            prompt="",
            batch_size=self.batch_size,
            show_progress_bar=False,
            output_value="token_embeddings",
        )
        return [unit_rows(row.float().cpu().numpy()[1:-1]) for row in rows]


def _dimension(model: Any) -> int:
    get = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(get())


@functools.lru_cache(maxsize=4)
def _load(
    model: str, revision: str | None, device: str | None, dimension: int | None, trust: bool
) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(
            model,
            revision=revision,
            device=device,
            truncate_dim=dimension,
            trust_remote_code=trust,
            local_files_only=only_local(model),
        )
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise ConfigError(
            f"the embedding model {model!r} comes with code of its own; "
            "read it, then set `embed.trust_remote_code` to true, or take another model"
        ) from error
    except OSError as error:
        raise ModelError(
            f"the embedding model {model!r} cannot be loaded ({str(error).splitlines()[0]}); "
            "check the name and the network, or set `embed.kind` to packaged"
        ) from error
