"""`rag-app verify`: the JSON that other programs rely on."""

from __future__ import annotations

import json

import pytest
import typer
from openai_server import ChatServer, Step
from typer.testing import CliRunner

from rag_app.cli import eval_verify as eval_command
from rag_app.cli import verify as command
from rag_app.types import ConfigError

app = typer.Typer()
command.register(app)
eval_command.register(evaluation := typer.Typer())
app.add_typer(evaluation, name="eval")
evaluation.callback()(lambda: None)

SOURCE = "The suspension bridge at Karrow spans 2.5 kilometers between its towers."


def run(*arguments: str, stdin: str = ""):
    return CliRunner().invoke(app, list(arguments), input=stdin)


def test_one_line_in_gives_one_line_out_in_order() -> None:
    rows = [{"id": f"c{n}", "claim": claim, "source": SOURCE} for n, claim in enumerate([SOURCE, "Cats sleep."])]
    result = run("verify", "--json", stdin="".join(json.dumps(row) + "\n" for row in rows))
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [(line["id"], line["label"]) for line in lines] == [("c0", "supported"), ("c1", "not_found")]
    first = lines[0]
    assert set(first) >= {"id", "label", "score", "level", "evidence", "checks"}
    evidence = first["evidence"][0]
    assert SOURCE[evidence["start"] : evidence["end"]] == evidence["text"]
    assert set(first["checks"][0]) >= {"name", "outcome", "claim_value", "source_value"}


def test_several_sources_are_taken_as_a_list() -> None:
    row = {"id": 1, "claim": SOURCE, "sources": ["Cats sleep.", SOURCE]}
    line = json.loads(run("verify", "--json", stdin=json.dumps(row)).stdout)
    assert line["label"] == "supported"
    assert line["evidence"][0]["source"] == "2"


def test_sources_of_null_leave_the_source() -> None:
    row = {"id": 1, "claim": SOURCE, "source": SOURCE, "sources": None}
    assert json.loads(run("verify", "--json", stdin=json.dumps(row)).stdout)["label"] == "supported"


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"claim": "x"}', '{"claim": "x", "sources": [1]}'])
def test_a_bad_line_is_said_and_the_others_go_on(line: str) -> None:
    good = json.dumps({"id": 2, "claim": SOURCE, "source": SOURCE})
    result = run("verify", "--json", stdin=f"{line}\n{good}\n")
    bad, fine = (json.loads(out) for out in result.stdout.splitlines())
    assert result.exit_code == 1
    assert bad["label"] == "not_checkable"
    assert "line 1" in bad["error"]
    assert bad["id"] == (1 if '"id"' in line else None)
    assert fine["label"] == "supported"


def test_without_json_a_bad_line_is_a_sentence_on_standard_error() -> None:
    result = run("verify", stdin="no json\n" + json.dumps({"claim": SOURCE, "source": SOURCE}) + "\n")
    assert result.exit_code == 1
    assert result.stderr.startswith("failed: line 1 is no JSON")
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["supported"]


def test_eval_verify_reports_measures_beside_baselines(tmp_path) -> None:
    rows = [
        {"id": 1, "claim": SOURCE, "source": SOURCE, "label": 1},
        {"id": 2, "claim": "Bridges in Karrow were painted green by Ada.", "source": SOURCE, "label": 0},
    ]
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("eval", "verify", str(path), "--json")
    report = json.loads(result.stdout)
    assert report["balanced_accuracy"]["value"] == 100.0
    assert report["baselines"]["always supported"]["balanced_accuracy"]["value"] == 50.0
    assert {"auroc", "precision_unsupported", "recall_unsupported"} <= set(report)


def test_eval_calibrate_gives_a_threshold_and_a_curve_of_falling_certainty(tmp_path) -> None:
    claims = [{"claim": SOURCE, "label": "supported"}, {"claim": "Karrow is a bridge.", "label": 1}]
    others = [{"claim": "Cats sleep all day.", "label": "not_found"}, {"claim": "The bridge fell down.", "label": 0}]
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps({"text": SOURCE, "sources": [SOURCE], "claims": claims + others}) + "\n")
    result = run("eval", "calibrate", str(file), "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (found["claims"], found["supported"]) == (4, 2)
    assert 0 <= found["threshold"] <= 1
    assert found["setting"] == f"verify.supported_threshold={found['threshold']}"
    coverages = [step["coverage"] for step in found["risk_coverage"]]
    assert coverages == sorted(coverages)
    assert coverages[-1] == 1.0
    assert found["risk_coverage"][-1]["risk"] == 0.5


def test_eval_calibrate_needs_claims_of_both_kinds(tmp_path) -> None:
    file = tmp_path / "claims.jsonl"
    file.write_text(json.dumps({"claim": SOURCE, "source": SOURCE, "label": 1}) + "\n")
    result = run("eval", "calibrate", str(file), "--json")
    assert result.exit_code != 0
    assert "both kinds" in str(result.exception)


def test_the_llm_level_asks_the_model_of_the_settings() -> None:
    row = json.dumps({"id": 1, "claim": "The bridge at Karrow is 2.5 km long.", "source": SOURCE})
    said = {"label": "supported", "sentences": [1], "quotes": ["spans 2.5 kilometers"], "reason": "it says so"}
    for reply, label in ((json.dumps(said), "supported"), (json.dumps({**said, "sentences": [9]}), "not_found"),
                         ("babble", "not_checkable")):  # fmt: skip
        with ChatServer([Step(reply)]) as server:
            model = ("synthesize.kind=llm", "synthesize.model=openai:any", f"synthesize.base_url={server.base_url}")
            options = [part for setting in (*model, "verify.cascade=false") for part in ("--set", setting)]
            result = run("verify", "--json", "--level", "llm", *options, stdin=row)
        line = json.loads(result.stdout)
        assert (result.exit_code, line["label"], line["level"]) == (0, label, "llm")
        assert line["reason"]
        assert bool(line["evidence"]) or label != "supported"


def test_the_llm_level_without_a_model_says_how_to_name_one() -> None:
    result = run("verify", "--json", "--level", "llm", stdin="")
    assert isinstance(result.exception, ConfigError)
    assert "synthesize.model" in str(result.exception)
