"""Words that look like a denial and are none: bounds, double negatives, and "nothing but"."""

from __future__ import annotations

import pytest

from rag_app.verify import Verifier
from rag_app.verify.checks.affirming import without_prefix
from rag_app.verify.words import stem


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("No fewer than 12 people came.", "12 people came."),
        ("No less than 12 people came.", "12 people came."),
        ("No more than 12 people came.", "12 people came."),
        ("Not more than 12 people came to the fair.", "12 people came to the fair."),
        ("The bridge is no longer than 40 metres.", "The bridge is 40 metres long."),
        ("It is not uncommon to see whales.", "It is common to see whales."),
        ("It isn't at all unusual to see whales here.", "It is usual to see whales here."),
        ("The task is not impossible for beginners.", "The task is possible for beginners."),
        ("The result was not an insignificant one for the team.", "The result was significant for the team."),
        ("Nothing but water may be used.", "Only water may be used."),
        ("None but members may vote in the hall.", "Only members may vote in the hall."),
        ("The plan is not without risk.", "The plan carries risk."),
        ("The results are not entirely without merit.", "The results have merit."),
        ("Das Verfahren ist nicht ohne Risiko.", "Das Verfahren birgt ein Risiko."),
        ("He did not eat anything but rice.", "He ate only rice."),
        ("The plan is anything but simple.", "The plan is not simple."),
        ("The museum is not open on Mondays.", "The museum is closed on Mondays."),
        ("Montags ist das Museum nicht geöffnet.", "Montags ist das Museum geschlossen."),
        ("Die Brücke trägt nicht mehr als 40 Tonnen.", "Die Brücke trägt höchstens 40 Tonnen."),
        ("Le pont ne supporte pas plus de 40 tonnes.", "Le pont supporte au plus 40 tonnes."),
        ("Not all of the 120 students passed.", "Most of the 120 students passed."),
        ("The law does not apply to small companies.", "The law exempts small companies."),
    ],
)
def test_no_denial_contradicts_on_neither_side(claim: str, source: str) -> None:
    assert Verifier().verify_claim(claim, [source]).label != "contradicted"
    assert Verifier().verify_claim(source, [claim]).label != "contradicted"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("No more than 12 people came.", "More than 12 people came."),
        ("No fewer than 12 people came.", "Fewer than 12 people came."),
        ("It is not uncommon to see whales.", "It is uncommon to see whales."),
        ("It is not uncommon to see whales.", "It is rare to see whales."),
        ("It is not common to see whales.", "It is common to see whales."),
        ("The output did not increase in the spring.", "The output increased in the spring."),
        ("The firm did not invest in the mill.", "The firm invested in the mill."),
        ("Nothing may be used.", "Water may be used."),
        ("Nothing but water may be used.", "Water may not be used."),
        ("The plan is not without risk.", "The plan is without risk."),
        ("The plan is without risk.", "The plan is not without risk."),
        ("He did not fail the exam.", "He failed the exam."),
        ("Le procédé n'est pas sans risque.", "Le procédé est sans risque."),
        ("The plan is anything but simple.", "The plan is simple."),
        ("The plan is risky.", "The plan is anything but risky."),
        ("The museum is empty.", "The museum is far from empty."),
        ("The method is free of risk.", "The method is by no means free of risk."),
        ("The method is in no way safe.", "The method is safe."),
        ("Das Verfahren ist alles andere als einfach.", "Das Verfahren ist einfach."),
        ("The museum is not open on Mondays.", "The museum is open on Mondays and closed on Sundays."),
        ("Die Brücke trägt nicht mehr als 40 Tonnen.", "Die Brücke trägt mehr als 40 Tonnen."),
        ("Not all of the 120 students passed.", "All of the 120 students passed."),
        ("Outside the town, the pool is not heated.", "Outside the town, the pool is heated."),
        ("The plan is not great for the town, despite its cost.", "The plan is great for the town, despite its cost."),
        ("The plan is great for the town, despite its cost.", "The plan is not great for the town, despite its cost."),
    ],
)
def test_a_denial_beside_them_still_contradicts(claim: str, source: str) -> None:
    assert Verifier().verify_claim(claim, [source]).label == "contradicted"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("No more than 12 people came to the fair.", "15 people came to the fair."),
        ("No fewer than 12 people came to the fair.", "10 people came to the fair."),
    ],
)
def test_a_number_on_the_other_side_of_a_bound_is_another(claim: str, source: str) -> None:
    assert Verifier().verify_claim(claim, [source]).label not in ("supported", "not_checkable")


@pytest.mark.parametrize(
    ("word", "base"),
    [("uncommon", "common"), ("impossible", "possible"), ("Insignificant", "significant"), ("dishonest", "honest"),
     ("improve", None), ("invest", None), ("uncover", None), ("until", None), ("interest", None), ("common", None),
     ("important", None), ("instant", None), ("include", None), ("discover", None), ("under", None)],
)  # fmt: skip
def test_a_prefix_denies_an_adjective_and_opens_other_words(word: str, base: str | None) -> None:
    assert without_prefix(word) == (stem(base) if base else None)
