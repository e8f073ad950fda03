"""The doctor's checks of the settings; those of an index are in tests/cli/test_main.py."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from rag_app.cli import main
from rag_app.doctor import Finding, diagnose
from rag_app.embed import HashingEmbedder
from rag_app.index import LocalVectorStore
from rag_app.index.local.manifest import write_manifest
from rag_app.settings import Settings

LLM = ["embed.kind=hashing", "synthesize.kind=llm", "synthesize.model=openai:some-model"]


def chat_model(*sets: str) -> Finding:
    """What the doctor finds about the chat model."""
    (found,) = [finding for finding in diagnose(Settings.resolve(None, [*LLM, *sets])) if finding.name == "chat model"]
    return found


def test_a_model_without_a_key_fails_and_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = chat_model()
    assert found.outcome == "fail"
    assert "OPENAI_API_KEY" in f"{found.finding} {found.remedy}"
    assert found.remedy


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = chat_model("synthesize.base_url=http://127.0.0.1:9/v1")
    assert (found.outcome, found.finding) == ("ok", "openai:some-model at http://127.0.0.1:9/v1")


def test_offline_settings_are_checked_without_a_chat_model() -> None:
    findings = diagnose(Settings.resolve(None, ["embed.kind=hashing"]))
    assert all(finding.name != "chat model" for finding in findings)
    assert next(finding for finding in findings if finding.name == "embedder").outcome == "ok"


def _damage(folder: Path) -> None:
    file = next(folder.glob("segments/*/arrays.bin"))
    data = bytearray(file.read_bytes())
    data[20] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("fault", ["missing", "damaged", "mismatched", "no manifest", "cut manifest"])
def test_an_index_that_cannot_be_used_is_exit_code_3_with_a_remedy(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "index"
    if fault != "missing":
        store = LocalVectorStore.from_texts(["the pump"], HashingEmbedder(), path=folder)
        store.index.close()
    if fault == "damaged":
        _damage(folder)
    elif fault == "no manifest":
        (folder / "manifest.json").unlink()
    elif fault == "cut manifest":
        (folder / "manifest.json").write_text((folder / "manifest.json").read_text()[:40])
    dimensions = 64 if fault == "mismatched" else 256
    options = ["--set", "embed.kind=hashing", "--set", f"embed.dimensions={dimensions}", "--json"]
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--index", str(folder), *options])
    assert ended.value.code == 3
    failed = [check for check in json.loads(capsys.readouterr().out)["checks"] if check["outcome"] == "fail"]
    assert [check["name"] for check in failed] == ["index"]
    assert "rag-app index" in failed[0]["remedy"]
    assert failed[0]["finding"]


def test_the_age_of_the_vectors_and_a_drift_of_the_model_are_shown(tmp_path: Path) -> None:
    class Revised(HashingEmbedder):
        built: str = "1"

        @property
        def revision(self) -> str | None:
            return self.built

    store = LocalVectorStore.from_texts(["the pump"], Revised(), path=tmp_path / "index")
    then = dt.datetime.now(dt.UTC) - dt.timedelta(days=400)
    write_manifest(tmp_path / "index", {**store.index.manifest, "created": then.isoformat(timespec="seconds")})
    settings = Settings.resolve(None, ["embed.kind=hashing"])
    found = {finding.name: finding for finding in diagnose(settings, str(tmp_path / "index"))}
    assert found["model age"].finding == f"vectors since {then:%Y-%m-%d}, 400 days; canary texts have cosine 1.0000"
    assert found["model drift"].outcome == "note"
    assert "revision: '1' then, None now" in found["model drift"].finding
    assert "--reembed" in found["model drift"].remedy
