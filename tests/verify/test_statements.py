"""Statements: what is a claim, what it inherits, what its subject stands in."""

from __future__ import annotations

import pytest

from rag_app.verify import Verifier
from rag_app.verify.statements import statements_of


def words_of(text: str, count: int = 9) -> list[str]:
    return [statement.words for statement in statements_of(text, count)[0]]


def contexts_of(text: str) -> list[str]:
    return [statement.context for statement in statements_of(text, 9)[0]]


HEAD = "| Model | Power |\n|---|---|\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}| MX-400 | 4 kW |", ["MX-400 - Power: 4 kW"]),
        ("Model | Power\n--- | ---\nMX-400 | 4 kW", ["MX-400 - Power: 4 kW"]),
        ("| | 2020 |\n|---|---|\n| Revenue | 5 m |", ["Revenue - 2020: 5 m"]),
        ("| A | B |\n|---|---|\n| x \\| y | 5 |", ["x | y - B: 5"]),
        ("| MX-400 | 4 kW |\n| MX-500 | 5 kW |", ["MX-400: 4 kW", "MX-500: 5 kW"]),  # no row is a head
        (f"{HEAD}| MX-400 [2] | 4 kW [1] |", ["MX-400 - Power: 4 kW"]),
    ],
)
def test_a_cell_reads_with_the_heads_of_its_row_and_column(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The plan covers:\n- fire\n- theft", ["The plan covers fire", "The plan covers theft"]),
        ("**Covered:**\n\n1. fire\n2. theft", ["Covered fire", "Covered theft"]),
        ("Covered risks：\n・火災\n・盗難", ["Covered risks 火災", "Covered risks 盗難"]),
        ("Losses:\n- Water:\n  - cellar\n- Theft", ["Losses Water cellar", "Losses Theft"]),
        ("It covers:\n- water\n  - in the cellar", ["It covers water", "It covers water in the cellar"]),
        ("It covers:\n- fire\n  and smoke\n- theft", ["It covers fire", "It covers and smoke", "It covers theft"]),
        ("Here are the key points:\n- fire is covered", ["fire is covered"]),  # talk, nothing to inherit
        ("It covers:\n- fire. This is new.", ["It covers fire.", "This is new."]),
        ("It covers fire.\n\n- theft", ["It covers fire.", "theft"]),
    ],
)
def test_a_list_item_inherits_its_lead_in(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_an_item_without_markers_is_cited_by_its_lead_in() -> None:
    statements, _ = statements_of("The plan covers [1]:\n- fire\n- theft [2]\n  - of jewels", 2)
    assert [s.claim.citations for s in statements] == [(1,), (1,), (2,), (2,)]


@pytest.mark.parametrize("kind", ["I think the bridge is 5 km long [1].", "Please press the knob for 5 seconds [1]."])
def test_what_cites_a_source_is_a_claim(kind: str) -> None:
    assert statements_of(kind, 1)[0][0].claim.kind == "factual"
    assert statements_of(kind.replace(" [1]", ""), 1)[0][0].claim.kind != "factual"


def test_a_pronoun_has_the_last_sentence_that_opens_with_none_as_context() -> None:
    text = "The bridge opened in 1987. It is long. However, it closed. The tunnel is new."
    assert contexts_of(text) == ["", "The bridge opened in 1987.", "The bridge opened in 1987.", ""]


def test_a_clause_cut_off_from_its_subject_has_the_clause_before_as_context() -> None:
    text = "The firm, which was founded in 1987 [1], is based in Rome [2]."
    assert contexts_of(text) == ["", "The firm, which was founded in 1987"]


SOURCE = (
    "Marie Curie was a physicist. She was born in Warsaw in 1867 and attended the Sorbonne in Paris. "
    "The suspension bridge at Karrow opened in 1987 after a long construction. It spans 2.5 kilometers."
)


@pytest.mark.parametrize(
    ("before", "text", "supported"),
    [
        ("Marie Curie was a physicist.", "She was born in Warsaw.", True),
        ("Marie Curie was a physicist.", "She came from Warsaw.", True),
        ("Marie Curie was a physicist.", "She was born in Berlin.", False),
        ("The suspension bridge at Karrow opened in 1987 after a long construction.", "It spans the moon.", False),
        (
            "The suspension bridge at Karrow opened in 1987 after a long construction.",
            "They spans eats pangolins.",
            False,
        ),
        ("The suspension bridge at Karrow opened in 1987 after a long construction.", "It spans 99 furlongs.", False),
    ],
)
def test_the_sentence_before_does_not_carry_what_the_source_does_not_say(
    before: str, text: str, supported: bool
) -> None:
    report = Verifier().invoke({"text": f"{before} {text}", "documents": [SOURCE]})
    assert [v.label == "supported" for v in report.verdicts] == [True, supported]


@pytest.mark.parametrize("text", ["Yes.", "No, it does not.", "Ja."])
def test_a_bare_yes_has_nothing_to_look_for(text: str) -> None:
    assert Verifier().verify_claim(text, [SOURCE]).label == "not_checkable"
