"""A cross-encoder in OpenVINO: loads without torch, and is held against torch's scores of a few pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rag_app.backend import UnsupportedModelError
from rag_app.backend.compiled import CompiledModel, Precision, compile_checked, version
from rag_app.backend.graph import GraphBuilder
from rag_app.backend.hub import only_local
from rag_app.backend.kept import cache_folder, content_key, kept
from rag_app.backend.weights import read_config, read_shape, read_weights
from rag_app.rerank.pairs import CANARIES, LEAST_AGREEMENT, DType, Logits, Pair, PairScorer, TorchPairs, agreement
from rag_app.types import ModelError

_PRECISIONS: dict[DType, Precision] = {"auto": "auto", "float32": "fp32", "bfloat16": "bf16"}
# Pairs for one pass: what they need stays in the processor's cache.
_AT_ONCE = 8
_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors", "modules.json")


class OpenVINOPairs(PairScorer):
    """A folder with a BERT-like sequence classifier and its `tokenizer.json`."""

    def __init__(self, folder: Path, *, dtype: DType = "auto", cache_dir: str | None = None) -> None:
        from tokenizers import Tokenizer

        for name in ("tokenizer.json", "model.safetensors"):
            if not (folder / name).is_file():
                raise UnsupportedModelError(f"{folder} has no {name}, which OpenVINO's backend reads")
        config = read_config(folder)
        shape = read_shape(config)
        weights = read_weights(folder, shape.family)
        self._source = str(folder / "tokenizer.json")
        try:
            self._tokenizer = Tokenizer.from_file(self._source)
        except Exception as error:
            raise ModelError(f"the tokenizer of {folder} cannot be read ({error}); install the model again") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.labels = _labels(config, weights)
        self.window = _window(folder, shape.window)
        self._has_types = shape.types > 1
        path = cache_folder(cache_dir) / f"canaries-{content_key(folder, 'pairs', *map(' / '.join, CANARIES))}.npy"
        expected = kept(path, lambda: _reference(folder))

        def measured(model: CompiledModel) -> float:
            self._model = model
            return agreement(expected, self.logits(CANARIES, batch_size=_AT_ONCE))

        self.checked = compile_checked(
            GraphBuilder(shape, weights).logits(),
            _PRECISIONS[dtype],
            widest=shape.window,
            agreement=measured,
            least=LEAST_AGREEMENT,
            measure="agreement",
        )
        self._model = self.checked.model
        self.note = self.checked.note

    @property
    def backend(self) -> str:
        found = self.checked
        told = f"OpenVINO {version()}, {found.model.precision}, agreement with torch's fp32 {found.agreement:.4f}"
        return f"{told} ({self.note})" if self.note else told

    def count_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _cutter(self) -> Any:
        from tokenizers import Tokenizer

        cutter = Tokenizer.from_file(self._source)
        cutter.no_padding()
        cutter.enable_truncation(self.window, strategy="longest_first")
        return cutter

    def logits(self, pairs: Sequence[Pair], *, batch_size: int) -> Logits:
        read = [self._tokenizer.encode(*pair) for pair in pairs]
        read = [
            self._cutter.encode(*pair) if len(each.ids) > self.window else each
            for pair, each in zip(pairs, read, strict=True)
        ]
        order = sorted(range(len(pairs)), key=lambda i: -len(read[i].ids))
        rows = np.empty((len(pairs), len(self.labels)), dtype=np.float32)
        step = min(batch_size, _AT_ONCE)
        for start in range(0, len(order), step):
            places = order[start : start + step]
            some = [read[i] for i in places]
            # A tokenizer may count segments where the model (RoBERTa) has none.
            types = [each.type_ids for each in some] if self._has_types else None
            rows[places], _ = self._model.run([each.ids for each in some], types)
        return rows


def model_folder(model: str) -> Path | None:
    """The folder that is meant, or the hub's copy on this machine, fetched when it is not there; None without one."""
    if Path(model).is_dir():
        return Path(model)
    from huggingface_hub import snapshot_download

    for local in (True, False):
        if not local and only_local(model):
            break
        try:
            return Path(snapshot_download(model, allow_patterns=list(_FILES), local_files_only=local))
        except (OSError, ValueError):  # what the hub's package raises where there is no such model or no network
            continue
    return None


def _reference(folder: Path) -> Logits:
    from rag_app.rerank.pairs import load_cross_encoder

    return TorchPairs(load_cross_encoder(str(folder), device="cpu")).logits(CANARIES, batch_size=len(CANARIES))


def _labels(config: dict[str, Any], weights: dict[str, Any]) -> dict[int, str]:
    """The names of the classifier's outputs; as many as it has rows."""
    rows = next(
        (weights[name].shape[0] for name in ("classifier.weight", "classifier.out_proj.weight") if name in weights), 0
    )
    if not rows:
        raise UnsupportedModelError("the weights have no classifier: this is no cross-encoder")
    named = {int(place): str(name) for place, name in dict(config.get("id2label") or {}).items()}
    return {place: named.get(place, f"LABEL_{place}") for place in range(rows)}


def _window(folder: Path, positions: int) -> int:
    """The tokenizer's limit where it names one, but no more than the model has positions for."""
    try:
        named = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8")).get("model_max_length")
    except (OSError, ValueError, AttributeError):
        named = None
    return min(positions, int(named)) if isinstance(named, int | float) and named > 0 else positions
