"""Small arrays that cost time to find, kept in the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_MARK = 32


def cache_folder(setting: str | None = None) -> Path:
    """The folder of the setting, else `rag-app` where the system keeps a user's caches.

    For a user without a home (a number without a name, in a container), one that cannot be written.
    """
    if setting is not None:
        return Path(setting)
    try:
        return _users_caches() / "rag-app"
    except RuntimeError:
        return Path(os.devnull) / "rag-app"


def _users_caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def content_key(folder: Path, *extra: str) -> str:
    """A hash of the model's files and of what else matters, 32 hex digits."""
    mark = hashlib.sha256("\0".join(extra).encode())
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        with (folder / name).open("rb") as file:
            mark.update(hashlib.file_digest(file, "sha256").digest())
    return mark.hexdigest()[:32]


def kept(path: Path, make: Callable[[], np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The array at `path`; what `make` gives, put there, when there is none or its checksum is wrong.

    Written beside and renamed, so that two processes may do it at once. A folder that cannot be written keeps nothing.
    """
    with contextlib.suppress(OSError, ValueError):
        raw = path.read_bytes()
        if hashlib.sha256(raw[_MARK:]).digest() == raw[:_MARK]:
            return np.asarray(np.load(io.BytesIO(raw[_MARK:]), allow_pickle=False))
    value = make()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, checksummed(value))
    return value


def checksummed(value: np.ndarray[Any, Any]) -> bytes:
    """SHA-256 of numpy's file, and the file."""
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=False)
    return hashlib.sha256(buffer.getvalue()).digest() + buffer.getvalue()


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
