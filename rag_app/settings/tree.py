"""The tree itself."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    create_model,
    model_serializer,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticOmit, core_schema
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from rag_app.errors import ConfigError
from rag_app.settings.faults import endless, explain
from rag_app.settings.layers import overlay, parse_assignment, read_config
from rag_app.settings.stage import Stage, stage

if TYPE_CHECKING:
    from rag_app.embed import Embedding
    from rag_app.expand import Expansion
    from rag_app.index import IndexSettings
    from rag_app.load import Loader
    from rag_app.rerank import Reranking
    from rag_app.retrieve import Retriever
    from rag_app.split import Splitter
    from rag_app.synthesize import Synthesis
    from rag_app.verify import Verifier
else:
    Loader = stage("rag_app.load", "Loader", "Loader")
    Splitter = stage("rag_app.split", "Splitter", "ProfileSplitter")
    Embedding = stage("rag_app.embed", "Embedding", "PackagedEmbedder")
    IndexSettings = stage("rag_app.index", "IndexSettings", "IndexSettings")
    Retriever = stage("rag_app.retrieve", "Retriever", "HybridRetriever")
    Reranking = stage("rag_app.rerank", "Reranking", "LateInteractionReranker")
    Expansion = stage("rag_app.expand", "Expansion", "NoExpander")
    Synthesis = stage("rag_app.synthesize", "Synthesis", "ExtractiveSynthesizer")
    Verifier = stage("rag_app.verify", "Verifier", "Verifier")

_MAKING = threading.RLock()


class Settings(BaseSettings):
    """What each stage is and how it is set; `Settings()` is `configs/default.yaml`.

    A stage is made when it is first asked for, so `model_fields` and the annotations do not show the types of stages;
    `json_schema()` and the values do. A copy makes its own stages where the original was not asked for them yet.
    """

    model_config = SettingsConfigDict(
        env_prefix="RAG_APP_",
        env_nested_delimiter="__",
        extra="forbid",
        arbitrary_types_allowed=True,
        validate_default=False,
    )

    load: Loader
    split: Splitter
    embed: Embedding
    index: IndexSettings
    retrieve: Retriever
    rerank: Reranking
    expand: Expansion
    synthesize: Synthesis
    verify: Verifier

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment below what is given, by `overlay`: pydantic's own merge would mix the keys of two kinds."""
        values = overlay(_environment(env_settings), init_settings())
        tree = {stage: _with_kind(stage, value) for stage, value in values.items()}
        return (InitSettingsSource(settings_cls, tree),)

    @classmethod
    def resolve(cls, config: str | None = None, sets: Sequence[str] = ()) -> Settings:
        """The settings of a preset or file, with the environment and `stage.key=value` arguments laid over.

        Raises ConfigError, naming the path of the fault, the finding and the way out.
        """
        values = read_config(config) if config else {}
        values = overlay(values, _environment(EnvSettingsSource(cls)))
        for assignment in sets:
            values = overlay(values, parse_assignment(assignment))
        return cls.build(values)

    @classmethod
    def build(cls, values: Mapping[str, Any]) -> Settings:
        """The settings of a plain tree; a stage without `kind` is the default's kind."""
        try:
            settings = cls(**values)
        except ValidationError as error:
            raise ConfigError(explain(STAGES, error)) from None
        said = {name: getattr(settings, name).model_dump() for name in STAGES if name in settings.model_fields_set}
        for path, number in endless(said):
            raise ConfigError(f"the setting {path!r} cannot be {number}: write a number, or null where it allows none")
        return settings

    def to_yaml(self) -> str:
        """The resolved settings as YAML, every field written out."""
        import yaml

        return str(yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=120))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON schema of the settings; runtime objects, such as an index or a model, are no settings."""
        return cls.model_json_schema(schema_generator=_SettingsSchema)

    def to_dict(self) -> dict[str, Any]:
        """The resolved settings as plain values; secrets are masked."""
        return self.model_dump(mode="json")

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        typed = _typed(cls, STAGES)
        typed.model_rebuild()
        return handler.resolve_ref_schema(handler(typed.__pydantic_core_schema__))

    # A stage of which nothing was said is not there until it is asked for; who looks at all of them makes them all.

    def model_post_init(self, context: Any, /) -> None:
        for name in [name for name, value in self.__dict__.items() if isinstance(value, Stage)]:
            del self.__dict__[name]

    if not TYPE_CHECKING:  # for whom any name would be a setting

        def __getattr__(self, name: str) -> Any:
            if name not in STAGES:
                return super().__getattr__(name)
            with _MAKING:
                if name not in self.__dict__:
                    self.__dict__[name] = STAGES[name].default()
                return self.__dict__[name]

    def _complete(self) -> Settings:
        if not STAGES.keys() <= self.__dict__.keys():
            with _MAKING:  # written in the order of the fields, whichever was asked for first
                values = {name: getattr(self, name) for name in STAGES}
                object.__setattr__(self, "__dict__", {**values, **self.__dict__})
        return self

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> Any:
        return write(self._complete())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Settings):
            other._complete()
        return super(Settings, self._complete()).__eq__(other)

    def __iter__(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]  # as pydantic's own
        return super(Settings, self._complete()).__iter__()

    def __repr_args__(self) -> Any:
        return super(Settings, self._complete()).__repr_args__()


STAGES: dict[str, Stage] = {
    name: part for name, field in Settings.model_fields.items() for part in field.metadata if isinstance(part, Stage)
}


class _SettingsSchema(GenerateJsonSchema):
    """Leaves out what no file could hold."""

    def handle_invalid_for_json_schema(self, schema: core_schema.CoreSchema, error_info: str) -> NoReturn:
        raise PydanticOmit


class _Typed(BaseSettings):
    model_config = SettingsConfigDict(**Settings.model_config, defer_build=True)


def _typed(settings: type[BaseSettings], names: Iterable[str]) -> type[BaseSettings]:
    """The tree of these stages with their own types, for who looks into them; and of a subclass's own fields."""
    fields: dict[str, Any] = {n: (STAGES[n].annotation, Field(default_factory=STAGES[n].default)) for n in names}
    fields |= {n: (field.annotation, copy(field)) for n, field in settings.model_fields.items() if n not in STAGES}
    model: type[BaseSettings] = create_model(settings.__name__, __base__=_Typed, __doc__=settings.__doc__, **fields)
    return model


def _environment(source: Any) -> dict[str, Any]:
    """What the environment says of the stages that its variables name, and of a subclass's own fields."""
    names = [name for name in source.settings_cls.model_fields if _is_named(name, source)]
    if not names:
        return {}
    stages = [name for name in names if name in STAGES]
    return EnvSettingsSource(_typed(source.settings_cls, stages), env_prefix=source.env_prefix)()


def _is_named(field: str, source: Any) -> bool:
    return any(key.startswith(source.env_prefix.lower() + field.lower()) for key in source.env_vars)


def _with_kind(stage: str, value: Any) -> Any:
    if not isinstance(value, Mapping) or "kind" in value or stage not in STAGES:
        return value
    kind = STAGES[stage].default.model_fields.get("kind")
    return value if kind is None else {"kind": kind.default, **value}
