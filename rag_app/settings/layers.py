"""Where values come from: presets and files, assignments, and one layer laid over another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_app.errors import ConfigError


def presets_path() -> Path:
    """The folder of presets: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


def presets() -> list[str]:
    """The names of the presets, in order."""
    return sorted(path.stem for path in presets_path().glob("*.yaml"))


def read_config(config: str) -> dict[str, Any]:
    """The tree of a preset's or file's YAML; ConfigError when there is none or it is no mapping."""
    from rag_app.settings.strict_yaml import parse

    path = Path(config)
    if not path.suffix and not path.is_file():
        if config not in presets():
            raise ConfigError(f"there is no preset {config!r}; take one of {', '.join(presets())}, or name a YAML file")
        path = presets_path() / f"{config}.yaml"
    try:
        tree = parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"the settings file {config!r} cannot be read: {error.strerror}; name another file") from None
    except (ValueError, RecursionError) as error:
        where = " ".join(str(error).split())
        raise ConfigError(f"the settings file {config!r} is not YAML: {where}; mend that place") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"the settings file {config!r} holds a {type(tree).__name__}; write `stage: {{key: value}}`")
    return tree


def parse_assignment(assignment: str) -> dict[str, Any]:
    """`"retrieve.top_k=5"` as `{"retrieve": {"top_k": 5}}`; the value is read as YAML."""
    path, equals, value = assignment.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise ConfigError(f"--set {assignment!r} is not understood; write stage.key=value, such as retrieve.top_k=5")
    from rag_app.settings.strict_yaml import parse

    try:
        tree: Any = parse(value)
    except (ValueError, RecursionError):  # ValueError: a date such as 2024-13-45
        tree = value
    for key in reversed(keys):
        tree = {key: tree}
    return dict(tree)


def overlay(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid over `base`, key by key; a stage of another `kind` starts afresh: its other keys were another's."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        if (
            isinstance(old, Mapping)
            and isinstance(value, Mapping)
            and value.get("kind", old.get("kind")) == old.get("kind")
        ):
            merged[key] = overlay(old, value)
        else:
            merged[key] = value
    return merged
