"""Reranking by a model that reads question and passage together."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from langchain_core.documents import Document
from pydantic import Field, model_validator

from rag_app.rerank.base import Reranker, Scored, sigmoid
from rag_app.rerank.windows import text_windows
from rag_app.types import ConfigError, MissingExtraError, ModelError

Scale = Literal["auto", "logit", "probability"]
# A model folder of `rag-app train reranker` has this file: the settings under which the model was found to help.
RECOMMENDED = "rag_app_reranker.json"


class CrossEncoderReranker(Reranker):
    """Candidates by a cross-encoder: relevance in [0, 1], whatever the model's own scale.

    `model` is a name or folder for sentence-transformers, loaded when first needed. `encoder` takes a loaded
    `CrossEncoder`, or any of LangChain's `BaseCrossEncoder`s; say what its scores are with `scale` ("auto": logits as
    soon as one lies outside [0, 1]). A passage longer than the model's window is scored by windows, the best one wins.
    A model with several labels is refused unless `relevance_label` names the one that means relevant. Settings that are
    not given come from the model's folder, where `rag-app train reranker` made it: the blend weight, above all.
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
    dtype: Literal["float32", "bfloat16"] = Field(default="float32", description="Numbers the model computes with.")
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
        if not hasattr(encoder, "predict"):
            return self._score_foreign(encoder, query, documents)
        texts = [document.page_content for document in documents]
        windows = [[text] for text in texts] if self.long_passages == "cut" else _windows(encoder, query, texts)
        pairs = [(query, text) for texts in windows for text in texts]
        logits = iter(self._logits(encoder, pairs))
        raw = tuple(max(next(logits) for _ in texts) for texts in windows)
        return Scored(raw, tuple(sigmoid(value) for value in raw))

    @cached_property
    def _encoder(self) -> Any:
        given = self.encoder
        if given is None:
            return load_cross_encoder(self.model, device=self.device, dtype=self.dtype)
        inner = getattr(given, "client", None)  # LangChain's HuggingFaceCrossEncoder keeps the real one there
        return inner if inner is not None and hasattr(inner, "predict") else given

    def _logits(self, encoder: Any, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One logit per pair, longest pairs first inside; the activation is ours, so that the scale is known."""
        import torch

        label = self._label(encoder)
        order = sorted(range(len(pairs)), key=lambda i: -len(pairs[i][1]))
        found = encoder.predict(
            [list(pairs[i]) for i in order],
            batch_size=self.batch_size,
            show_progress_bar=False,
            activation_fn=torch.nn.Identity(),
            convert_to_numpy=True,
        )
        values = [_log_odds(row, label) if label is not None else float(row) for row in found]
        logits = [0.0] * len(pairs)
        for place, value in zip(order, values, strict=True):
            logits[place] = value
        return logits

    def _label(self, encoder: Any) -> int | None:
        labels = dict(encoder.config.id2label)
        if encoder.config.num_labels == 1:
            return None
        if self.relevance_label is None:
            raise ConfigError(
                f"rerank.model: {self.model!r} has the labels {', '.join(map(str, labels.values()))}; "
                "name the one that means relevant with `rerank.relevance_label`"
            )
        for place, name in labels.items():
            if self.relevance_label in (int(place), name):
                return int(place)
        raise ConfigError(f"rerank.relevance_label: {self.relevance_label!r} is none of {sorted(labels.values())}")

    def _score_foreign(self, encoder: Any, query: str, documents: Sequence[Document]) -> Scored:
        found = encoder.score([(query, document.page_content) for document in documents])
        try:
            raw = tuple(float(value) for value in found)
        except (TypeError, ValueError):
            raise ModelError(f"{type(encoder).__name__} gave no number for a candidate: {found!r}") from None
        return self._on_scale(raw)

    def joined(self, first: Scored, rest: Scored) -> Scored:
        raw = first.raw + rest.raw
        return super().joined(first, rest) if hasattr(self._encoder, "predict") else self._on_scale(raw)

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


def load_cross_encoder(model: str, *, device: str | None = None, dtype: str = "float32") -> Any:
    """The sentence-transformers `CrossEncoder`; ModelError names the model when it cannot be had."""
    try:
        from sentence_transformers import CrossEncoder
    except ModuleNotFoundError as error:
        if error.name != "sentence_transformers":
            raise
        raise MissingExtraError("sentence-transformers", "local", "a cross-encoder") from None
    try:
        return CrossEncoder(model, device=device, model_kwargs={"torch_dtype": dtype} if dtype != "float32" else None)
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise ModelError(
            f"the cross-encoder {model!r} cannot be loaded ({reason}); "
            "go online once, name a folder in `rerank.model`, or take `rerank.kind: late-interaction`"
        ) from error


def recommended_settings(model: str) -> dict[str, Any]:
    """The settings that the model's folder recommends; none where it is no folder of ours."""
    path = Path(model) / RECOMMENDED
    if not path.is_file():
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"rerank.model: {path} cannot be read ({error}); train the model again") from None
    known = ("blend", "threshold", "max_candidates", "dtype", "long_passages")
    return {name: values[name] for name in known if name in values} if isinstance(values, dict) else {}


def _windows(encoder: Any, query: str, texts: Sequence[str]) -> list[list[str]]:
    tokens = _counter(encoder.tokenizer)
    room = max(16, min(_window(encoder), 4096) - tokens(query) - 3)
    return [text_windows(text, tokens, room) or [""] for text in texts]


def _window(encoder: Any) -> int:
    """Tokens that the model reads; sentence-transformers renamed the attribute in version 6."""
    limit = getattr(encoder, "max_seq_length", None) or (
        None if hasattr(encoder, "max_seq_length") else getattr(encoder, "max_length", None)
    )
    return int(limit or getattr(encoder.tokenizer, "model_max_length", None) or 512)


def _counter(tokenizer: Any) -> Any:
    return lambda text: len(tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"])


def _log_odds(row: Any, label: int) -> float:
    """The logit of the label's softmax probability."""
    rest = [float(value) for place, value in enumerate(row) if place != label]
    top = max(rest)
    return float(row[label]) - (top + math.log(sum(math.exp(value - top) for value in rest)))
