"""A BERT encoder in plain torch, read from safetensors: loads in a tenth of the time of sentence_transformers.

Only what sentence embedding needs: token, position and type embeddings, post-norm layers, GELU. bf16 where the
processor multiplies it in hardware (AMX): about three times as fast, cosine to fp32 above .999.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_app.embed.base import Matrix, unit_rows
from rag_app.types import ModelError

if TYPE_CHECKING:
    import torch


@functools.cache
def has_amx() -> bool:
    """Whether the processor multiplies bf16 matrices in hardware; False where nobody can tell."""
    try:
        return "amx_bf16" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    except OSError:
        return False


class BertEncoder:
    """Tokenizer and weights of a folder in sentence-transformers' layout (mean pooling)."""

    def __init__(self, folder: Path, *, max_tokens: int, bf16: bool | None = None) -> None:
        import torch
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            tensors = load_file(folder / "model.safetensors")
            self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:
            raise ModelError(f"the model in {folder} cannot be read ({error}); install it again") from error
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.max_tokens = max_tokens
        self.layers = int(config["num_hidden_layers"])
        self.heads = int(config["num_attention_heads"])
        self.dimension = int(config["hidden_size"])
        self.eps = float(config["layer_norm_eps"])
        self.dtype = torch.bfloat16 if (has_amx() if bf16 is None else bf16) else torch.float32
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

    def token_ids(self, text: str) -> list[int]:
        """The text's tokens between [CLS] and [SEP], cut to the window."""
        ids: list[int] = self.tokenizer.encode(text).ids
        return ids if len(ids) <= self.max_tokens else [*ids[: self.max_tokens - 1], ids[-1]]

    def count_tokens(self, text: str) -> int:
        """All tokens of the text, special ones included, before any cut."""
        return len(self.tokenizer.encode(text).ids)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """(n, d): the mean of the token vectors."""
        states, mask = self._run(texts)
        weights = mask.unsqueeze(-1).float()
        pooled = (states.float() * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return np.asarray(pooled.numpy(), dtype=np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[Matrix]:
        """One (t, d) matrix of unit rows for each text, without [CLS] and [SEP]."""
        states, mask = self._run(texts)
        lengths = mask.sum(1).tolist()
        return [unit_rows(states[i, 1 : n - 1].float().numpy()) for i, n in enumerate(lengths)]

    def _run(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        import torch

        rows = [self.token_ids(text) for text in texts]
        width = max(len(row) for row in rows)
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        mask = torch.zeros((len(rows), width), dtype=torch.bool)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = True
        with torch.inference_mode():
            return self._forward(ids, mask), mask

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
