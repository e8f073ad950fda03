"""The errors that the package raises on purpose, one small tree."""

from __future__ import annotations


class RagAppError(Exception):
    """Every error that the package raises on purpose. One sentence: the thing, the finding, the way out."""


class ConfigError(RagAppError, ValueError):
    """A setting, a filter or an argument that cannot be meant so; names its path."""


class LoadError(RagAppError):
    """A file that could not become a document; `LoadFailure` is its record when other files go on."""


class EmbeddingError(RagAppError):
    """Vectors that cannot be used: null, not finite, of the wrong dimension, or a model that failed."""


class IndexMissingError(RagAppError, FileNotFoundError):
    """There is no index at this place."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else "no index"


class IndexDamagedError(RagAppError):
    """A file of the index is missing, cut or changed; names the file."""


class IndexMismatchError(RagAppError):
    """The index was built with something else than the settings ask for; gives both values and the way out."""


class IndexLockedError(RagAppError):
    """Another writer holds the index."""


class ModelError(RagAppError):
    """A model that could not be loaded, or answered with something unusable."""


class MissingExtraError(RagAppError, ImportError):
    """A package of an optional extra is not installed; names the extra."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}; install it with `pip install 'rag-app[{extra}]'`")


class UnsupportedClaimsError(RagAppError):
    """A guard (`on_unsupported="raise"`) met claims that their evidence does not support."""
