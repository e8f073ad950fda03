"""What is wrong with a tree of settings, in one sentence."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import ValidationError

from rag_app.settings.stage import Stage


def endless(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """The places of numbers that are infinite or none: no file of JSON could hold them, and no limit is one."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path, value
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, item in inner:
        yield from endless(item, f"{path}.{key}" if path else str(key))


def explain(stages: Mapping[str, Stage], error: ValidationError) -> str:
    """The first fault as one sentence: path, finding, way out."""
    fault = error.errors()[0]
    location = list(fault["loc"])
    component = stages[str(location[0])].annotation if location[0] in stages else None
    if len(location) > 1 and (member := _member(component, location[1])) is not None:
        # A discriminated union puts the member's kind into the path; a person does not write it there.
        component, location = member, [location[0], *location[2:]]
    name = ".".join(map(str, location))
    found = fault.get("input")
    if fault["type"] == "extra_forbidden":
        known = _known_keys(stages, component, location)
        close = difflib.get_close_matches(str(location[-1]), known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(known)}"
        return f"the setting {name!r} is unknown; {hint}"
    if fault["type"].startswith("union_tag"):
        kinds = (fault.get("ctx") or {}).get("expected_tags", "")
        kind = found.get("kind") if isinstance(found, Mapping) else found
        return f"the setting '{name}.kind' does not know {kind!r}; take one of {kinds}"
    message = fault["msg"][0].lower() + fault["msg"][1:]
    if any(word in name for word in ("password", "api_key", "secret")):
        return f"the setting {name!r} cannot be what it is set to: {message}; see `rag-app settings --schema`"
    return f"the setting {name!r} cannot be {found!r}: {message}; see `rag-app settings --schema`"


def _member(annotation: Any, kind: Any) -> Any:
    """The component of an annotated union whose `kind` this is; None when there is no such member."""
    for member in get_args(getattr(annotation, "__origin__", None)):
        field = getattr(member, "model_fields", {}).get("kind")
        if field is not None and field.default == kind:
            return member
    return None


def _known_keys(stages: Mapping[str, Stage], component: Any, location: Sequence[int | str]) -> list[str]:
    """The keys that could stand where the last one of `location` stands."""
    if len(location) == 1:
        return sorted(stages)
    for part in location[1:-1]:
        inner = getattr(component, "model_fields", {}).get(part)
        component = inner.annotation if inner is not None else component
    fields = getattr(component, "model_fields", {})
    return sorted(name for name, field in fields.items() if not field.exclude)
