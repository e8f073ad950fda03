"""Many texts to vectors: from the cache where it has them, in batches, each tried again alone when it fails."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from rag_app.embed.base import Embedder, Matrix
from rag_app.embed.cache import EmbeddingCache
from rag_app.embed.checks import vector_faults
from rag_app.embed.retry import is_transient, with_retry

Vector = npt.NDArray[np.float32]
_GROUP = 8
_WINDOW = 256  # batches that wait for a place at a time
_GIVE_UP_AFTER = 3


def embed_texts(
    embedder: Embedder,
    texts: Mapping[str, str],
    *,
    cache: EmbeddingCache | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[dict[str, Vector], dict[str, str]]:
    """Vectors by id, and for each id without one the reason, from texts by id.

    Each batch is tried again alone, after the embedder's waits; up to its `max_concurrency` are under way at a time.
    After three failed batches in a row the rest is given up: the model is not there.
    """
    known: dict[str, Vector] = dict(cache.get(list(texts.values()))) if cache is not None else {}
    missing = sorted({text for text in texts.values() if text not in known}, key=lambda text: (len(text), text))
    reasons: dict[str, str] = {}
    done, failed = sum(text in known for text in texts.values()), 0
    with contextlib.closing(_encode_each(embedder, missing, sleep)) as outcomes:
        for batch, outcome in outcomes:
            failed = failed + 1 if isinstance(outcome, str) else 0
            good: dict[str, Vector] = {}
            if isinstance(outcome, str):
                reasons |= dict.fromkeys(batch, outcome)
            else:
                for text, row, fault in zip(
                    batch, outcome, vector_faults(outcome, dimension=embedder.dimension), strict=True
                ):
                    if fault:
                        reasons[text] = fault
                    else:
                        good[text] = row
            known |= good
            if cache is not None:
                cache.put(good)
            done += len(batch)
            if progress:
                progress(min(done, len(texts)), len(texts), "embed")
            if failed >= _GIVE_UP_AFTER:
                reasons = dict.fromkeys(missing, str(outcome)) | reasons
                break
    vectors = {key: known[text] for key, text in texts.items() if text in known}
    return vectors, {key: reasons[text] for key, text in texts.items() if text not in known}


def _encode_each(
    embedder: Embedder, texts: Sequence[str], sleep: Callable[[float], None]
) -> Generator[tuple[Sequence[str], Matrix | str]]:
    """Each batch with its vectors, or with the reason why it has none."""
    size = embedder.batch_size
    if not embedder.retry_waits:
        for start in range(0, len(texts), size * _GROUP):
            yield from _encode_group(embedder, texts[start : start + size * _GROUP])
        return
    batches = [texts[start : start + size] for start in range(0, len(texts), size)]
    workers = int(getattr(embedder, "max_concurrency", 1))
    if workers == 1:
        yield from ((batch, _encode_batch(embedder, sleep, batch)) for batch in batches)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        for start in range(0, len(batches), _WINDOW):
            window = batches[start : start + _WINDOW]
            yield from zip(window, pool.map(functools.partial(_encode_batch, embedder, sleep), window), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


def _encode_batch(embedder: Embedder, sleep: Callable[[float], None], batch: Sequence[str]) -> Matrix | str:
    try:
        return with_retry(functools.partial(embedder.encode, batch), embedder.retry_waits, sleep=sleep)
    except Exception as error:
        if not is_transient(error):
            raise
        return f"{type(error).__name__}: {error}"


def _encode_group(embedder: Embedder, group: Sequence[str]) -> Iterator[tuple[Sequence[str], Matrix | str]]:
    """A model on this machine: the group in one go, and when that fails its batches, each by itself."""
    try:
        yield group, embedder.encode(group)
        return
    except Exception as error:
        if not is_transient(error):
            raise
    for start in range(0, len(group), embedder.batch_size):
        batch = group[start : start + embedder.batch_size]
        yield batch, _encode_batch(embedder, time.sleep, batch)
