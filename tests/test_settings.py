"""Settings: the layers, the presets, and faults told in one sentence with the path."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

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
