"""Reranking by a model that reads question and passage together."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from langchain_core.documents import Document
from pydantic import Field, model_validator

from rag_app.backend import Backend
from rag_app.rerank.base import Reranker, Scored, sigmoid
from rag_app.rerank.pairs import DType, PairScorer, TorchPairs, load_pairs
from rag_app.rerank.windows import best, text_windows
from rag_app.text.normalize import well_formed
from rag_app.types import ConfigError, ModelError

Scale = Literal["auto", "logit", "probability"]
# A model folder of `rag-app train reranker` has this file: the settings under which the model was found to help.
RECOMMENDED = "rag_app_reranker.json"
_LOADING = threading.Lock()


class CrossEncoderReranker(Reranker):
    """Candidates by a cross-encoder: relevance in [0, 1], whatever the model's own scale.

    `model` is a name or folder, loaded when first needed: in OpenVINO (extra `fast`) where there is no GPU and it is
    a BERT, RoBERTa, XLM-RoBERTa or ELECTRA, else in sentence-transformers. `encoder` takes a loaded `CrossEncoder`,
    or any of LangChain's `BaseCrossEncoder`s; say what its scores are with `scale` ("auto": logits as soon as one lies
    outside [0, 1]). A passage longer than the model's window is scored by windows, the best one wins. A model with
    several labels is refused unless `relevance_label` names the one that means relevant. Settings that are not given
    come from the model's folder, where `rag-app train reranker` made it: the blend weight, above all.
    """

    kind: Literal["cross-encoder"] = "cross-encoder"
    model: str = Field(default="cross-encoder/ms-marco-MiniLM-L-6-v2", description="A model name or folder.")
    threshold: float | None = Field(default=0.3, ge=0, le=1, description="The least relevance that goes on.")
    relevance_label: str | int | None = Field(default=None, description="Of a model with several labels: which counts.")
    scale: Scale = Field(default="auto", description="What a foreign encoder's scores are.")
    long_passages: Literal["windows", "cut"] = Field(
        default="windows", description="Of a passage above the model's window: the best part counts, or its beginning."
    )
    device: str | None = Field(default=None, description="cpu, cuda, ...; null takes the GPU when there is one.")
    backend: Backend = Field(default="auto", description="OpenVINO when extra `fast` is installed, else torch; or one.")
    dtype: DType = Field(default="auto", description="Numbers to compute with; auto: bf16 where it keeps the order.")
    cache_dir: str | None = Field(default=None, description="Where torch's scores of a few pairs are kept.")
    trust_remote_code: bool = Field(default=False, description="Run code that comes with the model (Jina's v2 does).")
    batch_size: int = Field(default=16, ge=1, description="Pairs per forward pass.")
    encoder: Any = Field(default=None, exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _as_recommended(cls, values: Any) -> Any:
        if not isinstance(values, dict) or not isinstance(values.get("model"), str):
            return values
        return {**recommended_settings(values["model"]), **values}

    def score(self, query: str, documents: Sequence[Document]) -> Scored:
        encoder = self._encoder
        if not isinstance(encoder, PairScorer):
            return self._score_foreign(encoder, query, documents)
        label, query = self._label(encoder), well_formed(query)
        texts = [well_formed(document.page_content) for document in documents]
        windows = [[text] for text in texts] if self.long_passages == "cut" else _windows(encoder, query, texts)
        pairs = [(query, text) for texts in windows for text in texts]
        rows = iter(encoder.logits(pairs, batch_size=self.batch_size))
        raw = tuple(best(_relevance_logit(next(rows), label) for _ in texts) for texts in windows)
        warnings = (f"rerank: {encoder.note}",) if encoder.note else ()
        return Scored(raw, tuple(sigmoid(value) for value in raw), warnings)

    def prepare(self) -> None:
        _ = self._encoder

    @property
    def _encoder(self) -> Any:
        with _LOADING:  # many may be the first to ask
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        given = self.encoder
        if given is None:
            return load_pairs(
                self.model,
                backend=self.backend,
                dtype=self.dtype,
                device=self.device,
                cache_dir=self.cache_dir,
                trust_remote_code=self.trust_remote_code,
            )
        inner = getattr(given, "client", None)  # LangChain's HuggingFaceCrossEncoder keeps the real one there
        given = inner if inner is not None and hasattr(inner, "predict") else given
        return TorchPairs(given) if hasattr(given, "predict") else given

    @property
    def computed_by(self) -> str | None:
        """OpenVINO or torch, and the numbers it computes with; loads the model. None for a foreign encoder."""
        return self._encoder.backend if isinstance(self._encoder, PairScorer) else None

    def _label(self, encoder: PairScorer) -> int | None:
        if len(encoder.labels) == 1:
            return None
        if self.relevance_label is None:
            raise ConfigError(
                f"rerank.model: {self.model!r} has the labels {', '.join(encoder.labels.values())}; "
                "name the one that means relevant with `rerank.relevance_label`"
            )
        for place, name in encoder.labels.items():
            if self.relevance_label in (place, name):
                return place
        raise ConfigError(
            f"rerank.relevance_label: {self.relevance_label!r} is none of {sorted(encoder.labels.values())}"
        )

    def _score_foreign(self, encoder: Any, query: str, documents: Sequence[Document]) -> Scored:
        found = encoder.score([(query, document.page_content) for document in documents])
        try:
            raw = tuple(float(value) for value in found)
        except (TypeError, ValueError):
            raise ModelError(f"{type(encoder).__name__} gave no number for a candidate: {found!r}") from None
        return self._on_scale(raw)

    def joined(self, first: Scored, rest: Scored) -> Scored:
        raw = first.raw + rest.raw
        return super().joined(first, rest) if isinstance(self._encoder, PairScorer) else self._on_scale(raw)

    def _on_scale(self, raw: tuple[float, ...]) -> Scored:
        """A foreign encoder's scores of one question, all of them: one scale for all."""
        warnings: tuple[str, ...] = ()
        scale = self.scale
        if scale == "auto":
            scale = "probability" if all(0 <= value <= 1 for value in raw) else "logit"
            told = "probabilities" if scale == "probability" else "logits"
            warnings = (f"rerank: the encoder's scores were taken as {told}; say so with `scale`",)
        elif scale == "probability" and any(not 0 <= value <= 1 for value in raw if math.isfinite(value)):
            raise ModelError(
                f"rerank.scale: scores such as {max(raw, key=abs):g} are no probabilities; set it to logit"
            )
        return Scored(raw, raw if scale == "probability" else tuple(sigmoid(value) for value in raw), warnings)


def recommended_settings(model: str) -> dict[str, Any]:
    """The settings that the model's folder recommends; none where it is no folder of ours."""
    path = Path(model) / RECOMMENDED
    if not path.is_file():
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"rerank.model: {path} cannot be read ({error}); train the model again") from None
    # Not `dtype`: what a machine computes with is its own matter, and the order is held against fp32 here.
    known = ("blend", "threshold", "max_candidates", "long_passages")
    return {name: values[name] for name in known if name in values} if isinstance(values, dict) else {}


def _windows(encoder: PairScorer, query: str, texts: Sequence[str]) -> list[list[str]]:
    room = max(16, min(encoder.window, 4096) - encoder.count_tokens(query) - 3)
    return [text_windows(text, encoder.count_tokens, room) or [""] for text in texts]


def _relevance_logit(row: Any, label: int | None) -> float:
    """The one logit there is; of several, the logit of the label's softmax probability."""
    if label is None:
        return float(row[0])
    rest = [float(value) for place, value in enumerate(row) if place != label]
    top = max(rest)
    return float(row[label]) - (top + math.log(sum(math.exp(value - top) for value in rest)))
