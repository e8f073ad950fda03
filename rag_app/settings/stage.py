"""A field of the settings whose package is imported when its value is asked for, given, or written out."""

from __future__ import annotations

import functools
import importlib
from typing import Annotated, Any

from pydantic import BaseModel, Field, GetCoreSchemaHandler, SerializationInfo, TypeAdapter
from pydantic_core import core_schema

_AS_ASKED = (
    *("mode", "include", "exclude", "by_alias", "context", "round_trip", "serialize_as_any"),
    *("exclude_unset", "exclude_defaults", "exclude_none"),
)


class Stage:
    """Stands for a type that `package` has under the name `kind`; `default` is the class of the default value.

    To pydantic it is that type: the same values pass, faults have the same paths, and it is written in the same way. In
    place of a value it stands for the default.
    """

    def __init__(self, package: str, kind: str, default: str) -> None:
        self._package = package
        self._kind = kind
        self._default = default

    @functools.cached_property
    def annotation(self) -> Any:
        """The type itself: a component, or an annotated union of components that their `kind` tells apart."""
        return getattr(importlib.import_module(self._package), self._kind)

    @functools.cached_property
    def default(self) -> type[BaseModel]:
        """The component that the stage is when nothing is said of it."""
        component: type[BaseModel] = getattr(importlib.import_module(self._package), self._default)
        return component

    @functools.cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.annotation)

    def _read(self, value: Any) -> Any:
        return self._adapter.validate_python(value)

    def _write(self, value: Any, info: SerializationInfo) -> Any:
        return self._adapter.dump_python(value, **{name: getattr(info, name) for name in _AS_ASKED})

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(self._write, info_arg=True)
        return core_schema.no_info_plain_validator_function(self._read, serialization=written)

    def __eq__(self, other: object) -> bool:
        return self is other or (not isinstance(other, Stage) and other == self.default())

    __hash__ = object.__hash__


def stage(package: str, kind: str, default: str) -> Any:
    """The type of a field that is such a `Stage`, and has it for its default."""
    made = Stage(package, kind, default)
    return Annotated[Any, made, Field(default_factory=lambda: made)]
