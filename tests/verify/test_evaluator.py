"""The verifier under the names of LangChain's string evaluators."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.documents import Document

from rag_app.types import ConfigError
from rag_app.verify.evaluator import GroundednessEvaluator

FERRY = "The ferry to Skerry Island leaves twice a day and takes bicycles."
evaluator = GroundednessEvaluator()


def test_a_prediction_that_its_reference_supports_scores_one() -> None:
    result = evaluator.evaluate_strings(prediction="The ferry takes bicycles.", reference=FERRY, input="Does it?")
    assert (result["score"], result["value"], result["reasoning"]) == (1.0, "Y", "every claim is supported")


def test_the_reasons_name_what_is_not_supported() -> None:
    text = "The ferry takes bicycles. The captain collects violins."
    result = evaluator.evaluate_strings(prediction=text, reference=[Document(FERRY)])
    assert (result["score"], result["value"]) == (0.5, "N")
    assert result["reasoning"] == "not_found: The captain collects violins."


def test_nothing_factual_has_no_score() -> None:
    result = evaluator.invoke({"prediction": "Does it leave?", "context": [FERRY]})
    assert (result["score"], result["value"]) == (None, None)


def test_sync_and_async_agree() -> None:
    given = {"prediction": "The ferry takes bicycles.", "reference": FERRY}
    assert asyncio.run(evaluator.aevaluate_strings(**given))["score"] == evaluator.evaluate_strings(**given)["score"]


def test_without_a_context_there_is_nothing_to_judge_by() -> None:
    with pytest.raises(ConfigError, match="reference"):
        evaluator.evaluate_strings(prediction="The ferry takes bicycles.")
    with pytest.raises(ConfigError, match="prediction"):
        evaluator.invoke({"reference": FERRY})
