"""What scores pairs of question and passage: a cross-encoder, whatever computes it; and whether two keep one order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rag_app.backend import Backend, UnsupportedModelError, has_bf16, has_gpu, openvino_wanted
from rag_app.backend.choice import refusal
from rag_app.backend.hub import only_local
from rag_app.rerank.base import sigmoid
from rag_app.types import ConfigError, MissingExtraError, ModelError

DType = Literal["auto", "float32", "bfloat16"]
Logits = npt.NDArray[np.float32]
Pair = tuple[str, str]

LEAST_AGREEMENT = 0.98
_QUESTIONS = {
    "How do I reset the pump?": "Hold the red button of the pump for five seconds until the light goes out.",
    "What is the notice period?": "Either party may terminate this agreement with three months' notice in writing.",
    "Welche Farbe hat der Himmel?": "Der Himmel ist bei klarem Wetter blau, am Abend oft rot.",
    "Which model won on the benchmark in 2021?": "In 2021 the ensemble was best: 87.3 against 85.1 for the baseline.",
}
# Each question with each passage: held against torch when a model is loaded in smaller numbers or another backend.
CANARIES: tuple[Pair, ...] = tuple((question, text) for question in _QUESTIONS for text in _QUESTIONS.values())


class PairScorer(ABC):
    """A cross-encoder: its labels, its window in tokens, and a row of logits for each pair.

    `note` says what was refused on loading, and why; it is empty when nothing was.
    """

    labels: dict[int, str]
    window: int
    note: str = ""

    @property
    @abstractmethod
    def backend(self) -> str:
        """What computes, and with which numbers."""

    @abstractmethod
    def count_tokens(self, text: str) -> int:
        """Tokens of the text alone, without special ones."""

    @abstractmethod
    def logits(self, pairs: Sequence[Pair], *, batch_size: int) -> Logits:
        """(n, labels), in the order of the pairs; a pair above the window is cut."""


class TorchPairs(PairScorer):
    """A `CrossEncoder` of sentence-transformers, as it was loaded or given."""

    def __init__(self, encoder: Any, *, note: str = "") -> None:
        self.encoder = encoder
        self.labels = {int(place): str(name) for place, name in dict(encoder.config.id2label).items()}
        self.window = _window(encoder)
        self.note = note

    @property
    def backend(self) -> str:
        kind = str(next(iter(self.encoder.parameters())).dtype).removeprefix("torch.")
        return f"torch, {kind}" + (f" ({self.note})" if self.note else "")

    def count_tokens(self, text: str) -> int:
        found = self.encoder.tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)
        return len(found["input_ids"])

    def logits(self, pairs: Sequence[Pair], *, batch_size: int) -> Logits:
        import torch

        order = sorted(range(len(pairs)), key=lambda i: -sum(map(len, pairs[i])))
        found = self.encoder.predict(
            [list(pairs[i]) for i in order],
            batch_size=batch_size,
            show_progress_bar=False,
            activation_fn=torch.nn.Identity(),  # the activation is ours, so that the scale is known
            convert_to_numpy=True,
        )
        rows = np.empty((len(pairs), len(self.labels)), dtype=np.float32)
        rows[order] = np.asarray(found, dtype=np.float32).reshape(len(pairs), len(self.labels))
        return rows


def load_pairs(
    model: str,
    *,
    backend: Backend = "auto",
    dtype: DType = "auto",
    device: str | None = None,
    cache_dir: str | None = None,
    trust_remote_code: bool = False,
) -> PairScorer:
    """The cross-encoder in OpenVINO where that is wanted and can be, else in torch.

    `auto` leaves a GPU to torch, and what OpenVINO cannot build. ModelError names a model that cannot be had.
    """
    note = ""
    on_processor = device == "cpu" or (device is None and not has_gpu())
    if openvino_wanted(backend) and (on_processor or backend == "openvino"):
        from rag_app.rerank.openvino_pairs import OpenVINOPairs, model_folder

        folder = model_folder(model)
        if folder is not None:
            try:
                return OpenVINOPairs(folder, dtype=dtype, cache_dir=cache_dir)
            except ModelError as error:
                if backend == "openvino":
                    raise
                # A model that OpenVINO could build and got wrong is news; one that it cannot build is none.
                note = "" if isinstance(error, UnsupportedModelError) else str(error).partition(";")[0]
        elif backend == "openvino":
            raise ModelError(f"the cross-encoder {model!r} cannot be found; go online once, or name a folder")
    if dtype == "auto" and on_processor and has_bf16():
        scorer = _in_bf16_where_order_is_kept(model, device, trust_remote_code)
        scorer.note = "; ".join(filter(None, (note, scorer.note)))
        return scorer
    small = "float32" if dtype == "auto" else dtype
    encoder = load_cross_encoder(model, device=device, dtype=small, trust_remote_code=trust_remote_code)
    return TorchPairs(encoder, note=note)


def _in_bf16_where_order_is_kept(model: str, device: str | None, trust: bool) -> TorchPairs:
    exact = TorchPairs(load_cross_encoder(model, device=device, trust_remote_code=trust))
    expected = exact.logits(CANARIES, batch_size=len(CANARIES))
    small = TorchPairs(load_cross_encoder(model, device=device, dtype="bfloat16", trust_remote_code=trust))
    found = agreement(expected, small.logits(CANARIES, batch_size=len(CANARIES)))
    if found >= LEAST_AGREEMENT:
        return small
    exact.note = refusal("bf16", "agreement", found, LEAST_AGREEMENT)
    return exact


def agreement(expected: npt.NDArray[Any], found: npt.NDArray[Any]) -> float:
    """How far two give the same scores, at most 1: the least over the labels of Kendall's tau and of 1 - the largest
    difference of relevance. (n, labels) each. Scores within a hundredth of the first's range are in no order: a model
    gives what is beside the point nearly one score, and who comes last there is nobody's concern.
    """
    if not np.isfinite(found).all():
        return -1.0
    least = 1.0
    for ours, theirs in zip(np.asarray(expected, np.float64).T, np.asarray(found, np.float64).T, strict=True):
        shift = max(abs(sigmoid(float(a)) - sigmoid(float(b))) for a, b in zip(ours, theirs, strict=True))
        least = min(least, kendall_tau(ours, theirs, equal=0.01 * float(np.ptp(ours))), 1 - shift)
    return least


def kendall_tau(expected: npt.NDArray[Any], found: npt.NDArray[Any], *, equal: float = 0.0) -> float:
    """1 - 2 x the share of pairs whose order changed: in [-1, 1].

    Pairs that `expected` holds for equal, up to rounding or to `equal`, count as unchanged.
    """
    gaps = expected[:, None] - expected[None, :]
    upper = np.triu_indices(len(expected), 1)
    if not len(upper[0]):
        return 1.0
    apart = np.abs(gaps) > max(equal, 1e-5 * (1 + float(np.ptp(expected))))
    changed = apart & (gaps * (found[:, None] - found[None, :]) <= 0)
    return 1 - 2 * float(changed[upper].mean())


def load_cross_encoder(
    model: str, *, device: str | None = None, dtype: str = "float32", trust_remote_code: bool = False
) -> Any:
    """The sentence-transformers `CrossEncoder`; ModelError names the model when it cannot be had."""
    try:
        from sentence_transformers import CrossEncoder
    except ModuleNotFoundError as error:
        if error.name != "sentence_transformers":
            raise
        raise MissingExtraError("sentence-transformers", "local", "a cross-encoder") from None
    try:
        # Said also for float32: weights that are stored as float16 would be computed with as such.
        options = {"device": device, "model_kwargs": {"dtype": dtype}, "trust_remote_code": trust_remote_code}
        return CrossEncoder(model, local_files_only=only_local(model), **options)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise ConfigError(
            f"the cross-encoder {model!r} comes with code of its own; "
            "read it, then set `rerank.trust_remote_code` to true, or take another model"
        ) from error
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise ModelError(
            f"the cross-encoder {model!r} cannot be loaded ({reason}); "
            "go online once, name a folder in `rerank.model`, or take `rerank.kind: late-interaction`"
        ) from error


def _window(encoder: Any) -> int:
    """Tokens that the model reads; sentence-transformers renamed the attribute in version 6."""
    limit = getattr(encoder, "max_seq_length", None) or (
        None if hasattr(encoder, "max_seq_length") else getattr(encoder, "max_length", None)
    )
    return int(limit or getattr(encoder.tokenizer, "model_max_length", None) or 512)
