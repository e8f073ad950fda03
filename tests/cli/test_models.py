"""`rag-app models` and the catalog behind it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_app.cli import main
from rag_app.embed.catalog import MODELS, USES, recommend
from rag_app.embed.sentence_transformer import family_prefixes
from rag_app.types import ConfigError


def test_every_use_has_a_model_and_the_table_is_json_too(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["models", "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == len(MODELS)
    assert {use for row in rows for use in row["uses"]} == set(USES)
    assert {"name", "dimensions", "window", "license", "where", "query_prefix"} <= rows[0].keys()


def test_the_prefixes_of_the_catalog_are_those_that_are_applied() -> None:
    for model in MODELS:
        if model.role == "embedding" and model.where == "local":
            assert family_prefixes(model.name) == (model.query_prefix, model.passage_prefix), model.name


def test_recommendations_keep_to_budget_latency_and_place() -> None:
    assert recommend("python", "low")[0].uses == ("code",)
    assert all(model.where != "API" for model in recommend("general", "none"))
    assert [model.where for model in recommend("air-gapped")] == ["packaged"]
    assert [model.where for model in recommend("contract", "high", offline=True)] == ["packaged"]
    assert recommend("multilingual", "high", "low")[0].cost in ("free", "low")
    with pytest.raises(ConfigError, match="budget"):
        recommend("general", "lots")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="latency"):
        recommend("general", "low", "soon")  # type: ignore[arg-type]


def test_the_table_for_people_names_the_default(capsys: Any) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["models", "--use", "general", "--budget", "none"])
    assert not stop.value.code
    assert "MiniLM" in capsys.readouterr().out
