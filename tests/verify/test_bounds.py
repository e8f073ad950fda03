"""Bounds: "no more than 12" is not 12, and "more than 12" leaves 12 out."""

from __future__ import annotations

import pytest

from rag_app.verify import Verifier
from rag_app.verify.quantities import quantities_of


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("At least 12 people came.", "at least", "At least 12"),
        ("It isn't more than 12 miles.", "at most", "n't more than 12 miles"),
        ("It does not exceed 12 %.", "at most", "not exceed 12 %"),
        ("Up to $5 million was paid.", "at most", "Up to $5 million"),
        ("No fewer than 12 people came.", "at least", "No fewer than 12"),
        ("Fewer than 12 people came.", "less than", "Fewer than 12"),
        ("It costs over 12 dollars.", "more than", "over 12 dollars"),
        ("12 people or more came.", "at least", "12 people or more"),
        ("Children of 12 and older pay.", "at least", "12 and older"),
        ("It takes 24 months at most.", "at most", "24 months at most"),
        ("Mindestens 12 Personen kamen.", "at least", "Mindestens 12"),
        ("Nicht mehr als 12 Personen kamen.", "at most", "Nicht mehr als 12"),
        ("Mehr als 12 Personen kamen.", "more than", "Mehr als 12"),
        ("Au plus 12 personnes sont venues.", "at most", "Au plus 12"),
        ("Moins de 12 personnes sont venues.", "less than", "Moins de 12"),
        ("Como máximo 12 personas asistieron.", "at most", "Como máximo 12"),
        ("Al menos 12 personas asistieron.", "at least", "Al menos 12"),
        ("至少12人参加", "at least", "至少12"),
        ("不超过12人参加", "at most", "不超过12"),
        ("12人以上が参加した", "at least", "12人以上"),
        ("12人未満が参加した", "less than", "12人未満"),
    ],
)
def test_a_bound_is_read_with_its_words(text: str, name: str, said: str) -> None:
    (quantity,) = quantities_of(text)
    assert quantity.bound is not None
    assert quantity.bound.name == name
    assert quantity.bounded_span.slice(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "12 people came.",
        "It was observed over 18 months.",  # during
        "It weighs just under 200 pounds.",  # nearly
        "The plan for 12 people is better than most.",
    ],
)
def test_what_only_looks_like_a_bound_is_none(text: str) -> None:
    assert quantities_of(text)[0].bound is None


EXACT = "12 people came to the meeting."


@pytest.mark.parametrize(
    "source",
    [
        "No more than 12 people came to the meeting.",
        "Up to 12 people came to the meeting.",
        "At least 12 people came to the meeting.",
        "More than 12 people came to the meeting.",
        "Fewer than 12 people came to the meeting.",
    ],
)
def test_a_bound_does_not_say_exactly_so_many(source: str) -> None:
    verdict = Verifier().verify_claim(EXACT, [source])
    (check,) = [check for check in verdict.checks if check.outcome == "fail"]
    assert (verdict.label, check.name) == ("partially_supported", "bound")
    assert check.evidence_span.slice(source) == check.source_value == source.partition(" people")[0]


@pytest.mark.parametrize(
    ("claim", "source", "wanted"),
    [
        ("No more than 12 people came to the meeting.", EXACT, True),
        ("At least 12 people came to the meeting.", EXACT, True),
        ("More than 12 people came to the meeting.", EXACT, False),
        ("Fewer than 12 people came to the meeting.", EXACT, False),
        ("At least 12 people came to the meeting.", "At most 12 people came to the meeting.", False),
        ("At least 12 people came to the meeting.", "At least 12 people came to the meeting.", True),
        ("12 Personen kamen zur Sitzung.", "Höchstens 12 Personen kamen zur Sitzung.", False),
        ("12 personnes sont venues à la réunion.", "Au plus 12 personnes sont venues à la réunion.", False),
        ("12 personas asistieron a la reunión.", "Al menos 12 personas asistieron a la reunión.", False),
        ("The warranty lasts 24 months.", "The warranty lasts up to 24 months.", False),
        ("About 12 people came to the meeting.", "More than 12 people came to the meeting.", True),
        ("Revenue was $5 million last year.", "Revenue was over $5 million last year.", True),
        ("Revenue was $5 million last year.", "Revenue was at most $5 million last year.", False),
        ("Children younger than 12 travel free.", "Children under 12 travel free.", True),
        ("Children older than 12 travel free.", "Children under 12 travel free.", False),
        ("La population est de plus de 2,1 millions.", "La population dépasse 2,1 millions.", True),
        ("La población es de más de 2,1 millones.", "La población supera 2,1 millones.", True),
        ("该桥至少可承载40吨。", "该桥最多可承载40吨。", False),
        ("该桥最多能承载40吨。", "该桥最多可承载40吨。", True),
    ],
)
def test_a_number_and_a_bound_on_it(claim: str, source: str, wanted: bool) -> None:
    assert (Verifier().verify_claim(claim, [source]).label == "supported") == wanted


def test_a_number_inside_the_bound_of_the_source_is_no_contradiction() -> None:
    label = Verifier().verify_claim("8 people came to the meeting.", ["At most 12 people came to the meeting."]).label
    assert label == "partially_supported"


def test_the_exact_number_elsewhere_in_the_window_bears_the_claim_out() -> None:
    source = "At least 12 people came to the meeting, the clerk said. In the end 12 people came to the meeting."
    assert Verifier().verify_claim(EXACT, [source]).label == "supported"
