"""A BERT encoder in plain torch, read from safetensors: loads in a tenth of the time of sentence_transformers.

Only what sentence embedding needs: token, position and type embeddings, post-norm layers, GELU. bf16 where the
processor multiplies it in hardware: 1.8 times as fast with AVX-512's bf16, three times with AMX; cosine to fp32 above
.999.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_app.backend import has_bf16
from rag_app.embed.base import Matrix
from rag_app.embed.encoder import Encoder
from rag_app.types import ModelError

if TYPE_CHECKING:
    import torch


class BertEncoder(Encoder):
    """The weights of a folder in sentence-transformers' layout, in torch."""

    def __init__(self, folder: Path, *, max_tokens: int, bf16: bool | None = None) -> None:
        import torch
        from safetensors.torch import load_file

        super().__init__(folder, max_tokens=max_tokens)
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            tensors = load_file(folder / "model.safetensors")
        except Exception as error:
            raise ModelError(f"the model in {folder} cannot be read ({error}); install it again") from error
        self.layers = int(config["num_hidden_layers"])
        self.heads = int(config["num_attention_heads"])
        self.dimension = int(config["hidden_size"])
        self.eps = float(config["layer_norm_eps"])
        self.dtype = torch.bfloat16 if (has_bf16() if bf16 is None else bf16) else torch.float32
        prefix = "bert." if any(key.startswith("bert.") for key in tensors) else ""
        self.weights = {
            key.removeprefix(prefix): tensor.to(self.dtype)
            for key, tensor in tensors.items()
            if tensor.is_floating_point()
        }
        for layer in range(self.layers):
            self._join_qkv(f"encoder.layer.{layer}.attention.self")

    def _join_qkv(self, place: str) -> None:
        import torch

        for part in ("weight", "bias"):
            pieces = [self.weights.pop(f"{place}.{name}.{part}") for name in ("query", "key", "value")]
            self.weights[f"{place}.qkv.{part}"] = torch.cat(pieces).contiguous()

    @property
    def backend(self) -> str:
        import torch

        told = f"torch {str(torch.__version__).partition('+')[0]}, {'fp32' if self.dtype == torch.float32 else 'bf16'}"
        return f"{told} ({self.note})" if self.note else told

    def states(self, rows: Sequence[Sequence[int]]) -> tuple[Matrix, Matrix]:
        import torch

        width = max(map(len, rows))
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        mask = torch.zeros((len(rows), width), dtype=torch.bool)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = True
        with torch.inference_mode():
            states = self._forward(ids, mask).float()
        return np.asarray(states.numpy(), dtype=np.float32), np.asarray(mask.float().numpy(), dtype=np.float32)

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        import torch.nn.functional as f

        w = self.weights
        n, width = ids.shape
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][:width] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        attention = None if bool(mask.all()) else mask[:, None, None, :]
        for layer in range(self.layers):
            p = f"encoder.layer.{layer}"
            qkv = f.linear(x, w[f"{p}.attention.self.qkv.weight"], w[f"{p}.attention.self.qkv.bias"])
            q, k, v = qkv.view(n, width, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            y: Any = f.scaled_dot_product_attention(q, k, v, attn_mask=attention)
            y = y.transpose(1, 2).reshape(n, width, -1)
            y = f.linear(y, w[f"{p}.attention.output.dense.weight"], w[f"{p}.attention.output.dense.bias"])
            x = self._norm(x + y, f"{p}.attention.output.LayerNorm")
            y = f.gelu(f.linear(x, w[f"{p}.intermediate.dense.weight"], w[f"{p}.intermediate.dense.bias"]))
            y = f.linear(y, w[f"{p}.output.dense.weight"], w[f"{p}.output.dense.bias"])
            x = self._norm(x + y, f"{p}.output.LayerNorm")
        return x

    def _norm(self, x: torch.Tensor, place: str) -> torch.Tensor:
        import torch.nn.functional as f

        return f.layer_norm(
            x, (self.dimension,), self.weights[f"{place}.weight"], self.weights[f"{place}.bias"], self.eps
        )
