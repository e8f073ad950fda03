"""One tree of settings: each stage's field is the stage's own component, so the settings are the components' fields.

Values come from the defaults, then a preset or a YAML file, then the environment (`RAG_APP_RETRIEVE__TOP_K=5`), then
`stage.key=value` arguments; the later wins. Unknown keys are refused with their path.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import yaml
from pydantic import Field, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticOmit, core_schema
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from rag_app.embed import Embedding, PackagedEmbedder
from rag_app.expand import Expansion, NoExpander
from rag_app.index import IndexSettings
from rag_app.load import Loader
from rag_app.rerank import LateInteractionReranker, Reranking
from rag_app.retrieve import HybridRetriever, Retriever
from rag_app.split import ProfileSplitter, Splitter
from rag_app.synthesize import ExtractiveSynthesizer, Synthesis
from rag_app.types import ConfigError
from rag_app.verify import Verifier


class Settings(BaseSettings):
    """What each stage is and how it is set; `Settings()` is `configs/default.yaml`."""

    model_config = SettingsConfigDict(
        env_prefix="RAG_APP_", env_nested_delimiter="__", extra="forbid", arbitrary_types_allowed=True
    )

    load: Loader = Field(default_factory=Loader)
    split: Splitter = Field(default_factory=ProfileSplitter)
    embed: Embedding = Field(default_factory=PackagedEmbedder)
    index: IndexSettings = Field(default_factory=IndexSettings)
    retrieve: Retriever = Field(default_factory=HybridRetriever)
    rerank: Reranking = Field(default_factory=LateInteractionReranker)
    expand: Expansion = Field(default_factory=NoExpander)
    synthesize: Synthesis = Field(default_factory=ExtractiveSynthesizer)
    verify: Verifier = Field(default_factory=Verifier)

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
        values = overlay(env_settings(), init_settings())
        tree = {stage: _with_kind(cls, stage, value) for stage, value in values.items()}
        return (InitSettingsSource(settings_cls, tree),)

    @classmethod
    def resolve(cls, config: str | None = None, sets: Sequence[str] = ()) -> Settings:
        """The settings of a preset or file, with the environment and `stage.key=value` arguments laid over.

        Raises ConfigError, naming the path of the fault, the finding and the way out.
        """
        values = read_config(config) if config else {}
        values = overlay(values, EnvSettingsSource(cls)())
        for assignment in sets:
            values = overlay(values, parse_assignment(assignment))
        return cls.build(values)

    @classmethod
    def build(cls, values: Mapping[str, Any]) -> Settings:
        """The settings of a plain tree; a stage without `kind` is the default's kind."""
        try:
            settings = cls(**values)
        except ValidationError as error:
            raise ConfigError(_explain(cls, error)) from None
        for path, number in _endless(settings.model_dump()):
            raise ConfigError(f"the setting {path!r} cannot be {number}: write a number, or null where it allows none")
        return settings

    def to_yaml(self) -> str:
        """The resolved settings as YAML, every field written out."""
        return str(yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=120))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON schema of the settings; runtime objects, such as an index or a model, are no settings."""
        return cls.model_json_schema(schema_generator=_SettingsSchema)

    def to_dict(self) -> dict[str, Any]:
        """The resolved settings as plain values; secrets are masked."""
        return self.model_dump(mode="json")


class _SettingsSchema(GenerateJsonSchema):
    """Leaves out what no file could hold."""

    def handle_invalid_for_json_schema(self, schema: core_schema.CoreSchema, error_info: str) -> NoReturn:
        raise PydanticOmit


class _YAML(yaml.SafeLoader):
    """Refuses a key that stands twice in one mapping: the first value would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def _endless(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """The places of numbers that are infinite or none: no file of JSON could hold them, and no limit is one."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path, value
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, item in inner:
        yield from _endless(item, f"{path}.{key}" if path else str(key))


def presets_path() -> Path:
    """The folder of presets: inside an installed package, or beside it in a checkout."""
    inside = Path(__file__).parent / "configs"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "configs"


def presets() -> list[str]:
    """The names of the presets, in order."""
    return sorted(path.stem for path in presets_path().glob("*.yaml"))


def read_config(config: str) -> dict[str, Any]:
    """The tree of a preset's or file's YAML; ConfigError when there is none or it is no mapping."""
    path = Path(config)
    if not path.suffix and not path.is_file():
        if config not in presets():
            raise ConfigError(f"there is no preset {config!r}; take one of {', '.join(presets())}, or name a YAML file")
        path = presets_path() / f"{config}.yaml"
    try:
        tree = yaml.load(path.read_text(encoding="utf-8-sig"), _YAML)  # a safe loader
    except OSError as error:
        raise ConfigError(f"the settings file {config!r} cannot be read: {error.strerror}; name another file") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
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
    try:
        tree: Any = yaml.load(value, _YAML)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: a date such as 2024-13-45
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


def _with_kind(settings: type[Settings], stage: str, value: Any) -> Any:
    if not isinstance(value, Mapping) or "kind" in value or stage not in settings.model_fields:
        return value
    default = settings.model_fields[stage].get_default(call_default_factory=True)
    kind = getattr(default, "kind", None)
    return value if kind is None else {"kind": kind, **value}


def _explain(settings: type[Settings], error: ValidationError) -> str:
    """The first fault as one sentence: path, finding, way out."""
    fault = error.errors()[0]
    location = list(fault["loc"])
    component = settings.model_fields[str(location[0])].annotation if location[0] in settings.model_fields else None
    if len(location) > 1 and (member := _member(component, location[1])) is not None:
        # A discriminated union puts the member's kind into the path; a person does not write it there.
        component, location = member, [location[0], *location[2:]]
    name = ".".join(map(str, location))
    found = fault.get("input")
    if fault["type"] == "extra_forbidden":
        known = _known_keys(settings, component, location)
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
    """The component of a union whose `kind` this is; None when there is no such member."""
    for member in getattr(annotation, "__args__", ()):
        field = getattr(member, "model_fields", {}).get("kind")
        if field is not None and field.default == kind:
            return member
    return None


def _known_keys(settings: type[Settings], component: Any, location: Sequence[int | str]) -> list[str]:
    """The keys that could stand where the last one of `location` stands."""
    if len(location) == 1:
        return sorted(settings.model_fields)
    for part in location[1:-1]:
        inner = getattr(component, "model_fields", {}).get(part)
        component = inner.annotation if inner is not None else component
    fields = getattr(component, "model_fields", {})
    return sorted(name for name, field in fields.items() if not field.exclude)
