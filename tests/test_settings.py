"""Settings: the layers, the presets, and faults told in one sentence with the path."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from rag_app.settings import Settings, overlay, parse_assignment, presets, presets_path
from rag_app.types import ConfigError


def test_the_default_preset_equals_the_defaults() -> None:
    written = yaml.safe_load((presets_path() / "default.yaml").read_text(encoding="utf-8"))
    assert written == Settings().to_dict()


@pytest.mark.parametrize("name", presets())
def test_every_preset_resolves(name: str) -> None:
    assert isinstance(Settings.resolve(name), Settings)


def test_settings_written_as_yaml_resolve_to_themselves(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(Settings().to_yaml(), encoding="utf-8")
    assert Settings.resolve(str(file)).to_dict() == Settings().to_dict()


def test_arguments_win_over_environment_which_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("retrieve: {top_k: 3, fetch_k: 33}", encoding="utf-8")
    assert Settings.resolve(str(file)).retrieve.top_k == 3
    monkeypatch.setenv("RAG_APP_RETRIEVE__TOP_K", "4")
    assert Settings.resolve(str(file)).retrieve.top_k == 4
    resolved = Settings.resolve(str(file), ["retrieve.top_k=5"])
    assert (resolved.retrieve.top_k, resolved.retrieve.fetch_k) == (5, 33)


def test_another_kind_starts_afresh_since_the_other_keys_were_anothers() -> None:
    base = {"rerank": {"kind": "cross-encoder", "model": "some/model"}}
    assert overlay(base, {"rerank": {"kind": "none"}}) == {"rerank": {"kind": "none"}}
    assert overlay(base, {"rerank": {"model": "b"}}) == {"rerank": {"kind": "cross-encoder", "model": "b"}}


def test_an_argument_that_names_another_kind_leaves_the_environments_keys_of_the_first_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAG_APP_RETRIEVE__FUSION", "linear")
    assert Settings().to_dict()["retrieve"]["fusion"] == "linear"
    assert Settings(verify={"level": "lexical"}).to_dict()["retrieve"]["fusion"] == "linear"
    assert Settings.resolve(None, ["retrieve.kind=bm25"]).retrieve.kind == "bm25"


def test_an_assignment_is_a_path_and_a_yaml_value() -> None:
    assert parse_assignment("retrieve.top_k=5") == {"retrieve": {"top_k": 5}}
    assert parse_assignment("synthesize.base_url=http://127.0.0.1:1/v1") == {
        "synthesize": {"base_url": "http://127.0.0.1:1/v1"}
    }


@pytest.mark.parametrize(
    ("assignment", "path", "hint"),
    [
        ("retrieve.topk=5", "retrieve.topk", "top_k"),
        ("retreive.top_k=5", "retreive", "retrieve"),
        ("retrieve.top_k=many", "retrieve.top_k", "integer"),
        ("rerank.kind=magic", "rerank.kind", "cross-encoder"),
        ("retrieve.top_k", "retrieve.top_k", "stage.key=value"),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_its_path(assignment: str, path: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.resolve(None, [assignment])
    message = str(caught.value)
    assert path in message
    assert hint in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "finding"), [("- a", "holds a list"), ("a: [", "is not YAML"), ("nonsense: 1", "'nonsense' is unknown")]
)
def test_a_wrong_settings_file_is_one_sentence(tmp_path: Path, text: str, finding: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=finding):
        Settings.resolve(str(file))


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="default"):
        Settings.resolve("no-such-preset")


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("load: {timeout: 2024-13-45}", "month must be"),
        ("a: " + "[" * 3000, "is not YAML"),
        ("load: {timeout: 5}\nload: {workers: 2}", "'load' stands twice"),
        ("load: {timeout: .inf}", "load.timeout"),
    ],
)
def test_yaml_that_cannot_be_meant_is_a_fault_of_the_settings(tmp_path: Path, text: str, finding: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=finding):
        Settings.resolve(str(file))


def test_values_that_are_no_yaml_are_taken_as_text_and_endless_numbers_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert parse_assignment("load.text_field=2024-13-45") == {"load": {"text_field": "2024-13-45"}}
    with pytest.raises(ConfigError, match=r"load\.timeout.*inf"):
        Settings.resolve(None, ["load.timeout=1e999"])
    monkeypatch.setenv("RAG_APP_LOAD__TIMEOUT", "inf")
    with pytest.raises(ConfigError, match=r"load\.timeout.*inf"):
        Settings.resolve()


def test_a_secret_is_not_told_in_the_fault() -> None:
    for assignment in ("load.passwords={a: hunter2}", "synthesize={kind: llm, api_key: [hunter2]}"):
        with pytest.raises(ConfigError) as fault:
            Settings.resolve(None, [assignment])
        assert "hunter2" not in str(fault.value)


STAGES = ("load", "split", "embed", "retrieve", "rerank", "expand", "synthesize", "verify")


def stages_after(program: str, **environment: str) -> set[str]:
    """The stages that a fresh Python has imported when the program is done."""
    shown = f"import sys\n{program}\nprint(*[s for s in {STAGES!r} if f'rag_app.{{s}}' in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return set(done.stdout.split())


def test_a_stage_is_imported_when_something_is_said_of_it_or_its_value_is_asked_for() -> None:
    start = "from rag_app.settings import Settings\nsettings = "
    assert stages_after(start + "Settings()") == set()
    assert stages_after(start + "Settings.resolve()") == set()
    assert stages_after(start + "Settings.resolve(None, ['expand.kind=none'])") == {"expand"}
    assert stages_after(start + "Settings()\nsettings.expand") == {"expand"}
    assert stages_after(start + "Settings()", RAG_APP_EXPAND__KIND="none") == {"expand"}
    assert stages_after(start + "Settings()\nsettings.to_dict()") == set(STAGES)


def test_what_was_not_said_is_the_default_wherever_it_is_looked_at() -> None:
    names = list(Settings.model_fields)
    assert [name for name, _ in Settings()] == names
    assert list(dict(Settings())) == names
    later = Settings(expand={"kind": "window"})
    assert later.verify is later.verify
    assert repr(later).startswith("Settings(load=Loader(")
    assert list(later.to_dict()) == names
    assert later.model_fields_set == {"expand"}
    assert later.model_dump(include={"expand": {"kind"}}) == {"expand": {"kind": "window"}}
    assert later.model_dump(exclude_unset=True) == {"expand": {"kind": "window"}}
    assert set(later.model_dump(exclude_defaults=True)) >= {"expand"}
    assert "load" not in later.model_dump(exclude_defaults=True)
    assert later == later.model_copy()
    assert later != Settings()
    assert copy.copy(Settings()).to_dict() == Settings().to_dict()
    with pytest.raises(AttributeError, match="nothing"):
        _ = later.nothing  # type: ignore[attr-defined]


def test_threads_that_ask_at_once_are_given_one_value() -> None:
    for _ in range(20):
        settings = Settings()
        found: list[object] = []
        start = threading.Barrier(8)

        def ask(settings: Settings = settings, found: list[object] = found, start: threading.Barrier = start) -> None:
            start.wait()
            found.append(settings.retrieve)
            repr(settings)
            found.append(settings.retrieve)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({id(value) for value in found}) == 1


def test_what_is_written_has_the_order_of_the_stages_whichever_was_asked_for_first() -> None:
    settings = Settings()
    assert settings.verify is settings.verify
    assert list(settings.to_dict()) == [name for name, _ in settings] == list(Settings.model_fields)


def test_a_subclass_has_its_own_fields_in_every_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(Settings):
        """Mine."""

        audience: str = "all"

    monkeypatch.setenv("RAG_APP_AUDIENCE", "staff")
    monkeypatch.setenv("RAG_APP_RETRIEVE__TOP_K", "3")
    assert (Mine().audience, Mine.resolve().audience, Mine(audience="me").audience) == ("staff", "staff", "me")
    assert Mine().retrieve.top_k == 3
    assert list(Mine.json_schema()["properties"]) == list(Mine().to_dict()) == [*Settings.model_fields, "audience"]


def test_the_schema_has_every_component() -> None:
    schema = Settings.json_schema()
    assert list(schema["properties"]) == list(Settings.model_fields)
    assert schema["properties"]["index"] == {"$ref": "#/$defs/IndexSettings"}
    assert set(schema["properties"]["expand"]["discriminator"]["mapping"]) == {"none", "parent", "window", "merge"}


def test_settings_in_another_model_are_read_with_the_same_paths() -> None:
    class Outer(BaseModel):
        settings: Settings

    assert Outer(settings=Settings(expand={"kind": "window"})).settings.expand.kind == "window"
    with pytest.raises(ValidationError) as fault:
        Outer.model_validate({"settings": {"expand": {"kind": "window", "wide": 1}}})
    assert fault.value.errors()[0]["loc"] == ("settings", "expand", "window", "wide")
