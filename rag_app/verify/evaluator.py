"""The verifier as an evaluator: a prediction and its context in, a score with its reasons out.

The names and arguments are those of `StringEvaluator`, which lives in `langchain_classic` and is not needed here:
whoever calls `evaluate_strings(prediction=..., input=..., reference=...)` can call this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig, RunnableSerializable, run_in_executor
from pydantic import ConfigDict, Field

from rag_app.types import ConfigError
from rag_app.verify.report import VerificationReport
from rag_app.verify.verifier import Verifier


class GroundednessEvaluator(RunnableSerializable[dict[str, Any], dict[str, Any]]):
    """How much of a prediction its reference (the context) supports.

    Input: {"prediction": str, "reference" or "documents" or "context": a text, texts or Documents, "input"?: the
    question}. Output: {"score": share of the factual claims that are supported, None without any; "value": "Y" when all
    are, "N" when some are not, None without any; "reasoning": the claims that are not, one a line; "report"}.
    """

    model_config = ConfigDict(extra="forbid")

    verifier: Verifier = Field(default_factory=Verifier)

    @property
    def evaluation_name(self) -> str:
        return "groundedness"

    @property
    def requires_input(self) -> bool:
        return False

    @property
    def requires_reference(self) -> bool:
        return True

    def invoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        return self._call_with_config(self._evaluate, input, config, run_type="chain", **kwargs)

    def evaluate_strings(
        self, *, prediction: str, reference: Any = None, input: str | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The evaluation of one prediction; ConfigError without a reference."""
        return self.invoke({**kwargs, "prediction": prediction, "reference": reference, "input": input})

    async def aevaluate_strings(
        self, *, prediction: str, reference: Any = None, input: str | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The same, in a thread."""
        given = {**kwargs, "prediction": prediction, "reference": reference, "input": input}
        return await run_in_executor(None, self.invoke, given)

    def _evaluate(self, input: dict[str, Any]) -> dict[str, Any]:
        prediction = input.get("prediction")
        if not isinstance(prediction, str):
            raise ConfigError('the evaluator needs the text to judge under "prediction"')
        evidence = _evidence(input)
        question = input.get("input") or ""
        report = self.verifier.invoke({"text": prediction, "documents": evidence, "question": str(question)})
        return evaluation_of(report)


def evaluation_of(report: VerificationReport) -> dict[str, Any]:
    """A report as an evaluation: score, value, reasoning."""
    wrong = [f"{v.label}: {v.claim.text}" for v in report.unsupported()]
    value = None if report.groundedness is None else "N" if wrong else "Y"
    reasoning = "\n".join(wrong) or ("every claim is supported" if value else "no factual claim")
    return {"score": report.groundedness, "value": value, "reasoning": reasoning, "report": report.summary()}


def _evidence(input: dict[str, Any]) -> Sequence[str | Document]:
    for key in ("reference", "documents", "context"):
        found = input.get(key)
        if isinstance(found, (str, Document)):
            return [found]
        if found is not None:
            return list(found)
    raise ConfigError('the evaluator needs the context under "reference" (a text, texts or Documents)')
