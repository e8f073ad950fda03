"""A BERT-like encoder as an OpenVINO graph, made from its weights: no torch, no tracing, nothing copied.

OpenVINO's own converter would import torch and transformers; the graph of some hundred operations is made in .05 s,
which is less than reading back an exported file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_app.backend.quiet import import_openvino
from rag_app.backend.weights import BertShape, Tensor, UnsupportedModelError

if TYPE_CHECKING:
    import openvino as ov

_OUT_OF_SIGHT = -1e4  # added where there is padding; exp of it is 0, and bf16 holds it


class GraphBuilder:
    """The layers of one encoder; Devlin et al., "BERT", NAACL 2019, post-norm as published."""

    def __init__(self, shape: BertShape, weights: Mapping[str, Tensor]) -> None:
        self.ov = import_openvino()
        self.op: Any = self.ov.opset13
        self.shape = shape
        self.weights = weights

    def states(self) -> ov.Model:
        """(n, width) int32 token ids, types and float32 mask -> (n, width, d): the state of each token."""
        inputs, states, bias = self._embeddings()
        for layer in range(self.shape.layers):
            states = self._layer(states, bias, layer)
        return self._model(states, inputs)

    def logits(self) -> ov.Model:
        """The same inputs -> (n, labels): what the classifier over the first token says."""
        inputs, states, bias = self._embeddings()
        last = self.shape.layers - 1
        for layer in range(last):
            states = self._layer(states, bias, layer)
        # Only the first token's state is read: the last layer computes no other, a tenth of the work less.
        first = self._layer(states, bias, last, only_first=True)
        return self._model(self._classifier(self.op.squeeze(first, self._whole(1))), inputs)

    def _model(self, output: Any, inputs: list[Any]) -> ov.Model:
        return self.ov.Model([output], inputs, self.shape.family)

    def _weight(self, name: str) -> Any:
        if name not in self.weights:
            raise UnsupportedModelError(f"the weights of this {self.shape.family} have no {name!r}")
        tensor = self.weights[name]
        # Sharing needs memory that lies as numpy made it; the mapped file does.
        return self.op.constant(tensor, shared_memory=tensor.flags.c_contiguous and tensor.flags.writeable)

    def _whole(self, *values: int) -> Any:
        return self.op.constant(np.array(values, dtype=np.int64))

    def _linear(self, x: Any, place: str) -> Any:
        return self.op.add(
            self.op.matmul(x, self._weight(f"{place}.weight"), False, True), self._weight(f"{place}.bias")
        )

    def _norm(self, x: Any, place: str) -> Any:
        op = self.op
        scaled = op.mvn(x, self._whole(-1), True, self.shape.eps, "inside_sqrt")
        return op.add(op.multiply(scaled, self._weight(f"{place}.weight")), self._weight(f"{place}.bias"))

    def _active(self, x: Any) -> Any:
        return self.op.relu(x) if self.shape.activation == "relu" else self.op.gelu(x, self.shape.activation)

    def _embeddings(self) -> tuple[list[Any], Any, Any]:
        """Inputs; token, position and type embeddings; what attention adds for padding: (n, 1, 1, width)."""
        op, zero = self.op, self.op.constant(np.int64(0))
        ids = op.parameter([-1, -1], np.int32, name="ids")
        types = op.parameter([-1, -1], np.int32, name="types")
        mask = op.parameter([-1, -1], np.float32, name="mask")
        start = self._whole(self.shape.positions_from)
        width = op.gather(op.shape_of(ids, "i64"), self._whole(1), zero)
        positions = op.slice(
            self._weight("embeddings.position_embeddings.weight"),
            start,
            op.add(width, start),
            self._whole(1),
            self._whole(0),
        )
        x = op.gather(self._weight("embeddings.word_embeddings.weight"), ids, zero)
        kinds = op.gather(self._weight("embeddings.token_type_embeddings.weight"), types, zero)
        x = self._norm(op.add(op.add(x, positions), kinds), "embeddings.LayerNorm")
        if "embeddings_project.weight" in self.weights:
            x = self._linear(x, "embeddings_project")
        away = op.multiply(op.subtract(op.constant(np.float32(1)), mask), op.constant(np.float32(_OUT_OF_SIGHT)))
        return [ids, types, mask], x, op.unsqueeze(away, self._whole(1, 2))

    def _heads(self, x: Any) -> Any:
        heads = self.shape.heads
        parted = self.op.reshape(x, self._whole(0, 0, heads, self.shape.dimension // heads), True)
        return self.op.transpose(parted, self._whole(0, 2, 1, 3))

    def _layer(self, x: Any, bias: Any, layer: int, *, only_first: bool = False) -> Any:
        op, place = self.op, f"encoder.layer.{layer}"
        asking = op.slice(x, self._whole(0), self._whole(1), self._whole(1), self._whole(1)) if only_first else x
        query = self._heads(self._linear(asking, f"{place}.attention.self.query"))
        key, value = (self._heads(self._linear(x, f"{place}.attention.self.{part}")) for part in ("key", "value"))
        seen = op.transpose(op.scaled_dot_product_attention(query, key, value, bias), self._whole(0, 2, 1, 3))
        seen = op.reshape(seen, self._whole(0, 0, self.shape.dimension), True)
        y = op.add(asking, self._linear(seen, f"{place}.attention.output.dense"))
        y = self._norm(y, f"{place}.attention.output.LayerNorm")
        z = self._active(self._linear(y, f"{place}.intermediate.dense"))
        return self._norm(op.add(y, self._linear(z, f"{place}.output.dense")), f"{place}.output.LayerNorm")

    def _classifier(self, first: Any) -> Any:
        if self.shape.family == "bert":
            return self._linear(self.op.tanh(self._linear(first, "pooler.dense")), "classifier")
        y = self._linear(first, "classifier.dense")
        y = self.op.gelu(y, "erf") if self.shape.family == "electra" else self.op.tanh(y)
        return self._linear(y, "classifier.out_proj")
