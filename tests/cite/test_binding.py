"""Which words a marker stands for."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.cite import bind, claims, parse_markers

CASES = [
    ("A is 5 [1]. B is 6 [2].", [("A is 5", (1,)), ("B is 6", (2,))]),
    ("A is 5. [1] B is 6. [2]", [("A is 5.", (1,)), ("B is 6.", (2,))]),
    ("A is 5.[1] B is 6.[2]", [("A is 5.", (1,)), ("B is 6.", (2,))]),
    ("A is 5.\n\n[1]", [("A is 5.", (1,))]),
    ("A is 5 [1][3].", [("A is 5", (1, 3))]),
    ("A is 5 [1], [3].", [("A is 5", (1, 3))]),
    ("A is 5 [1-3].", [("A is 5", (1, 2, 3))]),
    ("A is 5 [1] and B is 6 [2].", [("A is 5", (1,)), ("B is 6", (2,))]),
    ("A is red [1]; B is blue [2].", [("A is red", (1,)), ("B is blue", (2,))]),
    ("A is red [1], but B is blue.", [("A is red [1], but B is blue.", (1,))]),
    (
        "A is red [1], while B has always been painted blue.",
        [("A is red", (1,)), ("B has always been painted blue.", ())],
    ),
    (
        "It covers dental [1], vision [2] and hearing [3].",
        [("It covers dental", (1,)), ("vision", (2,)), ("hearing", (3,))],
    ),
    ("According to [1], leave is 30 days.", [("According to [1], leave is 30 days.", (1,))]),
    ("The policy [1] says that leave is 30 days.", [("The policy [1] says that leave is 30 days.", (1,))]),
    ("It weighs 12 kg [1]. It costs $5 [2].", [("It weighs 12 kg", (1,)), ("It costs $5", (2,))]),
    ("It weighs 12 kg. [1] It costs $5. [2]", [("It weighs 12 kg.", (1,)), ("It costs $5.", (2,))]),
    ("Dr. Smith agrees [2]. See Art. 3 [1].", [("Dr. Smith agrees", (2,)), ("See Art. 3", (1,))]),
    ("No citation here.", [("No citation here.", ())]),
    ("# Title [1]\n\nText is here [2].", [("Text is here", (2,))]),
    ("Is it red [1]? It is [2].", [("It is", (2,))]),
    ("- one thing [1]\n- two things", [("one thing", (1,)), ("two things", ())]),
    ("1. one thing [1]\n2. two things [2]", [("one thing", (1,)), ("two things", (2,))]),
    ("The plan covers:\n- dental [1]\n- vision [2]", [("dental", (1,)), ("vision", (2,))]),
    ("| Name | Power |\n|---|---|\n| Pump | 5 kW [1] |\n| Fan [2] | 6 kW |", [("5 kW", (1,)), ("6 kW", (2,))]),
    ("| Name | Power | Source |\n|---|---|---|\n| Saw | 7 kW | [3] |", [("7 kW", (3,))]),
    ("> quoted words here [1]", [("quoted words here", (1,))]),
    ("```\ncode [1]\n```\n\nText is here [2].", [("Text is here", (2,))]),
    ("水泵需要每周检查。[1] 过滤器每月更换[2]。", [("水泵需要每周检查。", (1,)), ("过滤器每月更换", (2,))]),
    ("The cost is high. It was $3.5 million [1].", [("The cost is high.", ()), ("It was $3.5 million", (1,))]),
    ("A is 5 [1]\nB is 6 [2]", [("A is 5", (1,)), ("B is 6", (2,))]),
    ("[1] A is 5.", [("A is 5.", (1,))]),
    ("**A is 5** [1].", [("**A is 5**", (1,))]),
    ("A is 5\n[1]. ", [("A is 5", (1,))]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_run_of_markers_binds_to_its_clause(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    found = claims(bind(parse_markers(text, 3)))
    assert [(claim.text, claim.citations) for claim in found] == expected


_WORDS = st.sampled_from(
    ["Alpha is 5", "the pump", "and", ". ", ", ", "[1]", " [2]", "[1, 3]", "\n", "\n\n", "- ", "| ", "甲是五。", " "]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_WORDS, max_size=14))
def test_spans_lie_in_the_cleaned_text_and_no_citation_is_lost(pieces: list[str]) -> None:
    parsed = parse_markers("".join(pieces), 3)
    bound = bind(parsed)
    for clause in bound:
        assert parsed.text[clause.span.start : clause.span.end] == clause.text
        assert clause.text == clause.text.strip()
    spans = [clause.span for clause in bound]
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    if bound:
        cited = {number for clause in bound for number in clause.citations}
        assert cited == {number for marker in parsed.markers for number in marker.numbers}
