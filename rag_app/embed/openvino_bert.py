"""The packaged model in OpenVINO: loads without torch, and is held against torch's vectors of a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_app.backend.compiled import CompiledModel, Precision, compile_checked, version
from rag_app.backend.graph import GraphBuilder
from rag_app.backend.kept import cache_folder, content_key, kept
from rag_app.backend.weights import read_config, read_shape, read_weights
from rag_app.embed.base import Matrix, unit_rows
from rag_app.embed.encoder import Encoder

LEAST_COSINE = 0.999
# Short and long, English and not, words and numbers: what small numbers could spoil.
CANARIES = (
    "pump",
    "How long does the warranty last?",
    "The pump stops when the filter is clogged; clean it with warm water and restart it after five minutes.",
    "invoice 2024-117, 3 x 48.50 EUR, due in 30 days",
    "def area(radius: float) -> float: return 3.14159 * radius ** 2",
    "Wie lange gilt die Garantie? 保修期多长?",
    "In no event shall either party be liable for indirect damages. " * 6,
)


class OpenVINOEncoder(Encoder):
    """The same folder as for `BertEncoder`, computed by OpenVINO.

    Torch's vectors of the canaries are found once for these weights, by torch, and kept in the cache folder.
    """

    def __init__(
        self, folder: Path, *, max_tokens: int, precision: Precision = "auto", cache_dir: str | None = None
    ) -> None:
        super().__init__(folder, max_tokens=max_tokens)
        shape = read_shape(read_config(folder))
        graph = GraphBuilder(shape, read_weights(folder, shape.family)).states()
        path = cache_folder(cache_dir) / f"canaries-{content_key(folder, 'embedder', str(max_tokens), *CANARIES)}.npy"

        def reference() -> Matrix:
            from rag_app.embed.bert import BertEncoder

            return unit_rows(BertEncoder(folder, max_tokens=max_tokens, bf16=False).embed(CANARIES))

        expected = kept(path, reference)

        def agreement(model: CompiledModel) -> float:
            self._model = model
            rows = unit_rows(self.embed(CANARIES))
            return float((rows.astype(np.float64) * expected).sum(axis=1).min())

        self.checked = compile_checked(
            graph, precision, widest=shape.window, agreement=agreement, least=LEAST_COSINE, measure="cosine"
        )
        self._model, self.note = self.checked.model, self.checked.note

    @property
    def backend(self) -> str:
        found = self.checked
        told = f"OpenVINO {version()}, {found.model.precision}, least cosine to torch's fp32 {found.agreement:.5f}"
        return f"{told} ({self.note})" if self.note else told

    def states(self, rows: Sequence[Sequence[int]]) -> tuple[Matrix, Matrix]:
        return self._model.run(rows)
