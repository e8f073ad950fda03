"""What the encoders of the packaged model share, whatever computes them: tokens in, states out, the mean of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_app.embed.base import Matrix, unit_rows
from rag_app.text.normalize import well_formed
from rag_app.types import ModelError

# Texts for one pass: what they need stays in the processor's cache; 32 at once are a tenth slower.
_AT_ONCE = 8


class Encoder(ABC):
    """Tokenizer and mean pooling of a folder in sentence-transformers' layout; a member gives the tokens' states.

    `note` says what was refused on loading, and why; it is empty when nothing was.
    """

    note: str = ""

    def __init__(self, folder: Path, *, max_tokens: int) -> None:
        from tokenizers import Tokenizer

        try:
            self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:
            raise ModelError(f"the model in {folder} cannot be read ({error}); install it again") from error
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.max_tokens = max_tokens

    @property
    @abstractmethod
    def backend(self) -> str:
        """What computes, and with which numbers."""

    @abstractmethod
    def states(self, rows: Sequence[Sequence[int]]) -> tuple[Matrix, Matrix]:
        """(n, width, d) states of token ids, and the (n, width) mask that is 1 where there is a token."""

    def token_ids(self, text: str) -> list[int]:
        """The text's tokens between [CLS] and [SEP], cut to the window."""
        ids: list[int] = self.tokenizer.encode(well_formed(text)).ids
        return ids if len(ids) <= self.max_tokens else [*ids[: self.max_tokens - 1], ids[-1]]

    def count_tokens(self, text: str) -> int:
        """All tokens of the text, special ones included, before any cut."""
        return len(self.tokenizer.encode(well_formed(text)).ids)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """(n, d): the mean of the token vectors. Texts of like length are best given side by side."""
        rows = [self.token_ids(text) for text in texts]
        means: list[Matrix] = []
        for start in range(0, len(rows), _AT_ONCE):
            states, mask = self.states(rows[start : start + _AT_ONCE])
            means.append(np.matmul(mask[:, None, :], states)[:, 0] / mask.sum(axis=1, keepdims=True))
        return np.concatenate(means)

    def token_vectors(self, texts: Sequence[str]) -> list[Matrix]:
        """One (t, d) matrix of unit rows for each text, without [CLS] and [SEP]."""
        rows = [self.token_ids(text) for text in texts]
        vectors: list[Matrix] = []
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            states, _ = self.states(some)
            vectors += [unit_rows(states[i, 1 : len(row) - 1]) for i, row in enumerate(some)]
        return vectors
