"""A model folder read without torch: the configuration, and the weights mapped from the disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_app.types import ModelError

Tensor = npt.NDArray[np.float32]

# Where a family keeps its body.
_BODIES = {"bert": "bert.", "electra": "electra.", "roberta": "roberta.", "xlm-roberta": "roberta."}
_ACTIVATIONS = {"gelu": "erf", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh", "relu": "relu"}


class UnsupportedModelError(ModelError):
    """A model that is none of the BERT-like encoders that can be built here; torch reads it."""


@dataclass(frozen=True, slots=True)
class BertShape:
    """What a BERT-like encoder needs to be told of itself."""

    family: str
    layers: int
    heads: int
    dimension: int
    eps: float
    activation: str
    positions_from: int
    positions: int
    types: int

    @property
    def window(self) -> int:
        """Tokens it has positions for."""
        return self.positions - self.positions_from


def read_config(folder: Path) -> dict[str, Any]:
    """The folder's `config.json`; ModelError when it cannot be read."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"the model in {folder} cannot be read ({error}); install it again") from error
    if not isinstance(config, dict):
        raise ModelError(f"the model in {folder} has no usable config.json; install it again")
    return config


def read_shape(config: Mapping[str, Any]) -> BertShape:
    """The encoder that a configuration describes; UnsupportedModelError says why it is none of ours."""
    family = str(config.get("model_type", "bert"))
    activation = str(config.get("hidden_act", "gelu"))
    if config.get("auto_map"):
        raise UnsupportedModelError("a model that comes with code of its own is not built for OpenVINO")
    if family not in _BODIES:
        raise UnsupportedModelError(f"models of the type {family!r} are not built for OpenVINO")
    if activation not in _ACTIVATIONS or config.get("position_embedding_type", "absolute") != "absolute":
        raise UnsupportedModelError(f"{family} with {activation!r} or relative positions is not built for OpenVINO")
    try:
        return BertShape(
            family=family,
            layers=int(config["num_hidden_layers"]),
            heads=int(config["num_attention_heads"]),
            dimension=int(config["hidden_size"]),
            eps=float(config.get("layer_norm_eps", 1e-12)),  # BERT's first checkpoints do not name it
            activation=_ACTIVATIONS[activation],
            # RoBERTa's positions count from behind the row that means padding.
            positions_from=int(config.get("pad_token_id", 1)) + 1 if "roberta" in family else 0,
            positions=int(config["max_position_embeddings"]),
            types=int(config.get("type_vocab_size", 1)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UnsupportedModelError(f"the config.json of this {family} does not tell its shape ({error!r})") from None


def read_weights(folder: Path, family: str) -> dict[str, Tensor]:
    """The tensors of `model.safetensors` as float32, by name without the family's prefix; float32 is only mapped."""
    path = folder / "model.safetensors"
    if not path.is_file():
        raise UnsupportedModelError(f"{folder} has no model.safetensors")
    try:
        # Copy on write: OpenVINO takes writable memory only, and the file stays as it is.
        raw = np.memmap(path, dtype=np.uint8, mode="c")
        size = int(raw[:8].view("<u8")[0])
        header = json.loads(bytes(raw[8 : 8 + size]))
        body = raw[8 + size :]
        tensors = {name: _tensor(body, entry) for name, entry in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"the weights in {path} cannot be read ({error}); install the model again") from error
    return {
        _plain(name.removeprefix(_BODIES[family])): tensor for name, tensor in tensors.items() if tensor is not None
    }


def _tensor(body: npt.NDArray[np.uint8], entry: Mapping[str, Any]) -> Tensor | None:
    """One tensor as float32; None for whole numbers (position ids), which are no weights."""
    begin, end = entry["data_offsets"]
    raw, kind = body[begin:end], entry["dtype"]
    if kind == "F32":
        values = raw.view(np.float32)
    elif kind == "F16":
        values = raw.view(np.float16).astype(np.float32)
    elif kind == "BF16":
        values = (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        return None
    return np.asarray(values).reshape(entry["shape"])


def _plain(name: str) -> str:
    """Old checkpoints call a norm's weight and bias gamma and beta."""
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
