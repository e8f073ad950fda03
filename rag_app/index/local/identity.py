"""Which embedder and analyzer an index was built with, and whether those at hand are the same."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag_app.errors import ConfigError, IndexMismatchError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rag_app.embed import Embedder
    from rag_app.index.settings import IndexSettings

# Embedded at the first commit and again by whoever opens: the same model gives the same vectors, whatever its name.
CANARIES = (
    "The pump stops when the filter is clogged.",
    "invoice 2024-117, 3 x 48.50 EUR, due in 30 days",
    "Wie lange gilt die Garantie? 保修期多长?",
)
# bf16 against fp32 has .9999, an int8 export .97; another model has far less.
_SAME = 0.96
# What a machine computes with is no part of the model: an index is opened on another machine. And whose code may run
# is for that machine to say: an index is handed on, and its manifest may be anybody's.
_OWN_MATTERS = {"backend", "cache_dir", "device", "trust_remote_code"}
_WAYS_OUT = "embed again with `rag-app index --reembed`, rebuild with `--rebuild`, or set `embed` back"


def identity(embedder: Embedder) -> dict[str, Any]:
    """What the manifest says of the embedder; its settings make it again."""
    return {**embedder.fingerprint(), "kind": embedder.kind, "settings": _settings(embedder)}


def _settings(embedder: Embedder) -> dict[str, Any] | None:
    if embedder.kind == "foreign":
        return None
    return embedder.model_dump(mode="json", exclude=_OWN_MATTERS)


def embedder_of(manifest: Mapping[str, Any]) -> Embedder:
    """The embedder that the manifest names; ConfigError when it was an object of the caller's own."""
    built = manifest["embedder"]
    if built is None:
        raise ConfigError("the index has no vectors; build it with an embedder to search by meaning")
    if not built.get("settings"):
        raise ConfigError(f"the index was built with {built['name']!r}, an object of yours; pass it as `embedder`")
    if built["settings"].get("base_url"):
        # The texts, and a key of this machine, would go to a server that only the index's maker chose.
        raise ConfigError(
            f"the index was built with {built['name']!r} on the server {built['settings']['base_url']}; "
            "pass the embedder if that server is yours"
        )
    from pydantic import TypeAdapter, ValidationError

    from rag_app.embed import Embedding

    settings = {name: value for name, value in built["settings"].items() if name not in _OWN_MATTERS}
    try:
        embedder: Embedder = TypeAdapter(Embedding).validate_python(settings)
    except ValidationError as error:
        raise IndexMismatchError(
            f"the index was built with {built['name']!r}, and this rag_app does not know its settings "
            f"({error.errors()[0]['msg']}); pass the embedder, or {_WAYS_OUT}"
        ) from None
    return embedder


def check_embedder(manifest: Mapping[str, Any], embedder: Embedder) -> None:
    """IndexMismatchError, with both values, when the index was built with another embedder."""
    built = manifest["embedder"]
    if built is None:
        return
    here = embedder.fingerprint()
    for key in ("name", "dimension", "prefixes", "normalized"):
        if built[key] != here[key]:
            raise IndexMismatchError(
                f"the index was built with {_named(built)}, the settings ask for {_named(here)}: "
                f"{key} {built[key]!r} against {here[key]!r}; {_WAYS_OUT}"
            )
    # An unknown revision says nothing; the canaries will.
    if built["revision"] and here["revision"] and built["revision"] != here["revision"]:
        raise IndexMismatchError(
            f"the index was built with revision {built['revision']!r} of {built['name']}, the settings ask for "
            f"{here['revision']!r}; {_WAYS_OUT}"
        )


def _named(fingerprint: Mapping[str, Any]) -> str:
    return f"{fingerprint['name']!r} ({fingerprint['dimension']} dimensions)"


def canaries_of(embedder: Embedder) -> list[list[float]]:
    """The vectors of the canary texts, as the manifest keeps them."""
    return [[round(float(x), 5) for x in row] for row in _canary_rows(embedder)]


def _canary_rows(embedder: Embedder) -> npt.NDArray[np.float32]:
    from rag_app.embed.retry import with_retry

    return with_retry(lambda: embedder.encode(list(CANARIES)), embedder.retry_waits)


def check_canaries(manifest: Mapping[str, Any], embedder: Embedder) -> None:
    """IndexMismatchError when the model gives the canary texts other vectors than it did at the build."""
    lowest = canary_cosine(manifest, embedder)
    if not lowest >= _SAME:  # NaN is not the same either
        raise IndexMismatchError(
            f"{embedder.name} has changed since the index was built: a canary text has cosine {lowest:.3f} to its "
            f"vector of then, expected {_SAME} or more; {_WAYS_OUT}"
        )


def canary_cosine(manifest: Mapping[str, Any], embedder: Embedder) -> float:
    """The lowest cosine of a canary text's vector with that of the build: 1 for the same model, to 5 digits.

    1 when the manifest has none; IndexMismatchError for another dimension.
    """
    if manifest["canaries"] is None:
        return 1.0
    import numpy as np

    built, here = np.asarray(manifest["canaries"]), _canary_rows(embedder).astype(np.float64)
    if built.shape != here.shape:
        raise IndexMismatchError(
            f"{embedder.name} gives vectors of dimension {here.shape[1]}, the index has {built.shape[1]}; {_WAYS_OUT}"
        )
    return float((built * here).sum(axis=1).min())


class BuiltWith:
    """The settings in effect: given, or as the manifest has them; every view of one state holds the same."""

    def __init__(self, built: IndexSettings | Mapping[str, Any]) -> None:
        self._built = built

    @functools.cached_property
    def settings(self) -> IndexSettings:
        """Analyzer, formula and limits in effect; validated when first asked for, as opening does without pydantic."""
        return settings_of(self._built)


def settings_of(built: IndexSettings | Mapping[str, Any]) -> IndexSettings:
    """The settings as the manifest has them, validated; IndexMismatchError when this version knows no such settings."""
    from pydantic import ValidationError

    from rag_app.index.settings import IndexSettings

    if not isinstance(built, IndexSettings):
        _check_class(built.get("analyzer", {}), None)
    try:
        return IndexSettings.model_validate(built)
    except ValidationError as error:
        fault = error.errors()[0]
        raise IndexMismatchError(
            f"the index was built with settings that this rag_app does not know "
            f"({'.'.join(map(str, fault['loc']))}: {fault['msg']}); rebuild with `rag-app index --rebuild`"
        ) from None


def _check_class(then: Mapping[str, Any], now: str | None) -> None:
    """IndexMismatchError when the manifest names an analyzer of the caller's own, and `now` is another class."""
    own = then.get("class")
    if own is not None and own != now:
        raise IndexMismatchError(
            f"the index was built with the analyzer {own!r}, a class of yours; open it with "
            "`settings=IndexSettings(analyzer=...)`"
        )


def check_settings(manifest: Mapping[str, Any], settings: IndexSettings) -> IndexSettings:
    """The given settings: BM25's formula and the limits may differ from the manifest's.

    IndexMismatchError when the given analyzer is another one than the index was built with.
    """
    then, now = manifest["settings"]["analyzer"], settings.model_dump(mode="json")["analyzer"]
    _check_class(then, now.get("class"))
    if "class" not in then:
        then = settings_of(manifest["settings"]).model_dump(mode="json")["analyzer"]  # with what is new since
    names = dict.fromkeys([*then, *now])
    differ = [
        f"{name} {then.get(name)!r} against {now.get(name)!r}" for name in names if then.get(name) != now.get(name)
    ]
    if differ:
        raise IndexMismatchError(
            f"the index was built with another analyzer than the settings ask for: {', '.join(differ)}; "
            "rebuild with `rag-app index --rebuild`, or set `index.analyzer` back"
        )
    return settings
