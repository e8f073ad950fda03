"""Embeddings without a model: each word hashed to a few places. Deterministic, instant, knows only equal words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from rag_app.embed.base import Embedder, Matrix, unit_rows

_WORD = re.compile(r"\w+")


class HashingEmbedder(Embedder):
    """Signed feature hashing (Weinberger and others, ICML 2009): for tests, and where no model can be had.

    Texts that share words are near each other; a text without a word gets the hash of its characters.
    """

    kind: Literal["hashing"] = "hashing"
    dimensions: int = Field(default=256, ge=8)

    @property
    def name(self) -> str:
        """`hashing-256`."""
        return f"hashing-{self.dimensions}"

    @property
    def dimension(self) -> int:
        """The setting `dimensions`."""
        return self.dimensions

    def count_tokens(self, text: str) -> int:
        """Words, exactly."""
        return len(_WORD.findall(text))

    def _encode(self, texts: Sequence[str], *, query: bool) -> npt.ArrayLike:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            self._add(row, _WORD.findall(text.casefold()) or list(text))
            if text and not row.any():  # the signs of its words cancelled each other
                self._add(row, [text])
                row[0] += 0.0 if row.any() else 1.0
        return rows

    def _add(self, row: npt.NDArray[np.float32], words: Sequence[str]) -> None:
        for word in words:
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=12).digest()
            for i in range(0, 12, 4):
                number = int.from_bytes(digest[i : i + 4], "little")
                row[number // 2 % self.dimensions] += 1.0 if number % 2 else -1.0

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[Matrix]:
        """One row for each word."""
        result: list[Matrix] = []
        for text in texts:
            words = _WORD.findall(text.casefold())
            rows = np.zeros((len(words), self.dimensions), dtype=np.float32)
            for row, word in zip(rows, words, strict=True):
                self._add(row, [word])
            result.append(unit_rows(rows))
        return result
