"""The conflict checks: what each flags, and the look-alikes it lets pass."""

from __future__ import annotations

import pytest

from rag_app.verify.checks import run_checks
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import support_of

TABLE = "| Plan | Seats | Price per month |\n|---|---|---|\n| Solo | 1 | $9 |\n| Team | 10 | $49 |"


def outcomes(claim: str, text: str) -> dict[str, set[str]]:
    source = IndexedSource(text)
    found: dict[str, set[str]] = {}
    for check in run_checks(claim, source, support_of(claim, source)):
        found.setdefault(check.outcome, set()).add(check.name)
        if check.source_value is not None:
            assert text[slice(*check.evidence_span)] == check.source_value
    return found


@pytest.mark.parametrize(
    ("name", "claim", "source"),
    [
        ("number", "The ferry takes 25 bicycles.", "The ferry takes 40 bicycles."),
        ("number absent", "The ferry carries cars and 25 bicycles.", "The ferry carries cars and bicycles."),
        ("negation", "The ferry does not take bicycles.", "The ferry takes bicycles."),
        ("negation", "The ferry takes bicycles.", "The ferry does not take bicycles."),
        ("antonym", "Profits increased in the north.", "Profits decreased in the north."),
        ("antonym", "The treatment was ineffective in adults.", "The treatment was effective in adults."),
        ("name", "The choir was founded by Livia Moss in Tarn.", "The choir was founded by Nadia Ferro in Tarn."),
        ("quantifier", "All villages had a well.", "Most villages had a well."),
        ("modality", "The plan must cover theft.", "The plan may cover theft."),
        ("role", "Tarn acquired Brightwell in spring.", "In spring Brightwell acquired Tarn."),
        ("role", "Tarn acquired Brightwell in spring.", "In spring Tarn was acquired by Brightwell."),
        ("role", "Tarn was acquired by Brightwell in spring.", "In spring Tarn acquired Brightwell."),
        ("antonym", "Las ventas bajaron un 12 %.", "Las ventas subieron un 12 %."),
        ("table cell", "The Team plan costs $9 per month.", TABLE),
        ("part", "The kit contains a hex key, grease and a torque wrench.", "The kit contains a hex key and grease."),
        (
            "speaker",
            'The mayor announced that "the archive will reopen".',
            '"The archive will reopen," director Lea Morin told reporters, and the mayor thanked her.',
        ),
    ],
)
def test_a_conflict_is_flagged(name: str, claim: str, source: str) -> None:
    assert name in outcomes(claim, source).get("fail", set())


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The ferry takes about 40 bicycles.", "The ferry takes 41 bicycles."),
        ("Not only bicycles are taken by the ferry.", "Bicycles are taken by the ferry."),
        ("The plan may cover theft.", "The plan must cover theft."),
        ("The plan must cover theft.", "The plan must cover theft and may cover fire."),
        ("A was less effective than B in adults.", "B was more effective than A in adults."),
        ("Tarn was acquired by Brightwell.", "Brightwell acquired Tarn."),
        ("Tarn was following Brightwell.", "Tarn followed Brightwell."),
        ("Once Upon a Dream is a song by Lana.", "Lana sang her song Once Upon a Dream."),
        ("The Team plan costs $49 per month.", TABLE),
        ("All villages had a well.", "All villages had a well. Most had a road."),
        ('Lea Morin said "the archive will reopen".', '"The archive will reopen," Lea Morin told reporters.'),
        ("By default `connect` does not retry.", "def connect(host, retries=0): ..."),
    ],
)
def test_a_look_alike_passes(claim: str, source: str) -> None:
    assert "fail" not in outcomes(claim, source)
