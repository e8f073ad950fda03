"""Many texts to vectors: from the cache where it has them, in batches, each tried again alone when it fails."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rag_app.embed.base import Embedder, Matrix
from rag_app.embed.cache import EmbeddingCache
from rag_app.embed.checks import vector_faults
from rag_app.types import ConfigError, MissingExtraError

Vector = npt.NDArray[np.float32]
T = TypeVar("T")
_GROUP = 8
_GIVE_UP_AFTER = 3


def is_transient(error: BaseException) -> bool:
    """Whether another try may help: not for wrong settings, a refused key or a request the server calls wrong."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status in (408, 409, 425, 429) or status >= 500
    return isinstance(error, Exception) and not isinstance(error, ConfigError | MissingExtraError | TypeError)


def with_retry(call: Callable[[], T], waits: Sequence[float], *, sleep: Callable[[float], None] = time.sleep) -> T:
    """What `call` returns; after a transient error it is called again, once for each of `waits` (seconds)."""
    from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_chain, wait_fixed

    if not waits:
        return call()
    retrying = Retrying(
        stop=stop_after_attempt(len(waits) + 1),
        wait=wait_chain(*(wait_fixed(seconds) for seconds in waits)),
        retry=retry_if_exception(is_transient),
        sleep=sleep,
        reraise=True,
    )
    return retrying(call)


def embed_texts(
    embedder: Embedder,
    texts: Mapping[str, str],
    *,
    cache: EmbeddingCache | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[dict[str, Vector], dict[str, str]]:
    """Vectors by id, and for each id without one the reason, from texts by id.

    A group of batches that fails is tried batch by batch, each again after the embedder's waits. After three failed
    batches in a row the rest is given up: the model is not there.
    """
    known: dict[str, Vector] = dict(cache.get(list(texts.values()))) if cache is not None else {}
    missing = sorted({text for text in texts.values() if text not in known}, key=lambda text: (len(text), text))
    reasons: dict[str, str] = {}
    done, failed = sum(text in known for text in texts.values()), 0
    size = embedder.batch_size * _GROUP
    for start in range(0, len(missing), size):
        for batch, outcome in _encode_group(embedder, missing[start : start + size], sleep):
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
        if failed >= _GIVE_UP_AFTER:
            break
    vectors = {key: known[text] for key, text in texts.items() if text in known}
    return vectors, {key: reasons[text] for key, text in texts.items() if text not in known}


def _encode_group(
    embedder: Embedder, group: Sequence[str], sleep: Callable[[float], None]
) -> Iterator[tuple[Sequence[str], Matrix | str]]:
    """The group in one go; when that fails its batches, each with its vectors or the reason why it has none."""
    try:
        yield group, embedder.encode(group)
        return
    except Exception as error:
        if not is_transient(error):
            raise
    for start in range(0, len(group), embedder.batch_size):
        batch = group[start : start + embedder.batch_size]
        outcome: Matrix | str
        try:
            outcome = with_retry(functools.partial(embedder.encode, batch), embedder.retry_waits, sleep=sleep)
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        yield batch, outcome
