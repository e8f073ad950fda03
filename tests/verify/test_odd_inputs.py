"""Odd answers and sources: a report comes out whatever goes in, finite, with spans that slice back, and honest."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from langchain_core.documents import Document

from rag_app.types import ConfigError, to_json
from rag_app.verify import Verifier
from rag_app.verify.policy import Policy

SOURCE = "The ferry to Skerry Island leaves twice a day and takes 40 bicycles."
CLAIM = "The ferry takes 40 bicycles"
ODD: dict[str, tuple[str, list[str]]] = {
    "nothing": ("", [SOURCE]),
    "blank": (" \n\n\t", [SOURCE]),
    "5000 digits": ("1" * 5000, [SOURCE]),
    "a number beyond floats": (f"It takes {'9' * 400} bicycles [1].", [SOURCE]),
    "digits in the source": (f"{CLAIM} [1].", ["7" * 5000]),
    "HTML": ("<p>The <b>ferry</b> takes <i>40</i> bicycles&nbsp;[1].</p><script>x()</script>", [SOURCE]),
    "only code": ("```python\nprint(40)\n```", [SOURCE]),
    "unclosed code": ("```\nThe ferry takes 40 bicycles [1].", [SOURCE]),
    "a table": ("| boat | bicycles |\n|---|---|\n| ferry | 40 [1] |\n| tug | 7 [1] |", [SOURCE]),
    "nested lists": (
        "Ferries:\n- Skerry [1]\n  - takes 40 bicycles [1]\n    1. twice a day [1]\n      - daily",
        [SOURCE],
    ),
    "zero width": ("The\u200b ferry\u200d takes\ufeff 40\u200b bicycles [1].\u2060", [SOURCE]),
    "surrogates": ("The ferry \ud83d takes 40 \udc00 bicycles [1].", [SOURCE, "\ud800"]),
    "only markers": ("[1][1], [1]. [9]", [SOURCE]),
    "only phantoms": ("The ferry takes 40 bicycles [7][8].", [SOURCE]),
    "duplicates": (f"{CLAIM} [1]. {CLAIM} [1]. {CLAIM} [1].", [SOURCE, SOURCE]),
    "many citations": (CLAIM + "".join(f"[{n}]" for n in range(1, 61)) + ".", [SOURCE] * 60),
    "a source as the answer": (SOURCE, [SOURCE]),
    "CRLF": (f"{CLAIM} [1].\r\n\r\n- It leaves twice a day [1].\r\n", [SOURCE.replace(" and", "\r\nand")]),
    "right to left": ("العبارة تأخذ ٤٠ دراجة [1].", ["العبارة إلى الجزيرة تأخذ ٤٠ دراجة كل يوم."]),
    "mixed scripts": ("The паром 渡轮 takes ４０ Fahrräder [1].", [SOURCE, "渡轮载40辆自行车。"]),
    "NUL": ("The ferry\x00 takes 40\x00 bicycles [1].", [SOURCE, "\x00"]),
    "combining marks": ("e\u0301" * 500 + " [1]", ["é" * 500]),
    "no source": (f"{CLAIM}.", []),
    "an empty source": (f"{CLAIM} [1].", [""]),
    "a blank source": (f"{CLAIM} [1].", [" \n\x0b"]),
}


def finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    return all(map(finite, value)) if isinstance(value, (list, tuple)) else True


@pytest.mark.parametrize("policy", ["flag", "recite", "remove", "regenerate", "abstain"])
@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer_gives_an_honest_report(name: str, policy: Policy) -> None:
    text, sources = ODD[name]
    report = Verifier(policy=policy).invoke({"text": text, "documents": sources})
    plain = to_json(report)
    assert finite(plain)
    json.dumps(plain, allow_nan=False)
    for verdict in report.verdicts:
        assert 0 <= verdict.score <= 1
        assert verdict.label != "supported" or verdict.evidence
        for evidence in verdict.evidence:
            assert any(source[evidence.start : evidence.end] == evidence.text != "" for source in sources)
        for check in verdict.checks:
            assert check.source_value is None or any(check.source_value in source for source in sources)
        if policy == "flag":
            assert verdict.claim.span.slice(report.text) == verdict.claim.text
    if not "".join(sources).strip():
        assert not any(verdict.label == "supported" for verdict in report.verdicts)


@pytest.mark.parametrize("name", ODD)
def test_an_odd_claim_gives_a_verdict_and_the_stream_agrees(name: str) -> None:
    text, sources = ODD[name]
    verdict = Verifier().verify_claim(text, sources)
    assert verdict.label != "supported" or verdict.evidence
    given = {"text": text, "documents": sources}
    streamed = [(v.label, v.score) for v in Verifier().stream_verdicts(given)]
    assert streamed == [(v.label, v.score) for v in Verifier().invoke(given).verdicts]


@pytest.mark.parametrize("start", ["abc", [1]])
def test_a_source_that_starts_nowhere_is_named(start: Any) -> None:
    with pytest.raises(ConfigError, match="start_index"):
        Verifier().verify_claim(CLAIM, [Document(SOURCE, metadata={"start_index": start})])
