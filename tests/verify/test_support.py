"""The support channel: what a window holds of a claim, feature by feature."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.verify.source import IndexedSource
from rag_app.verify.support import NOTHING, default_model, support_of
from rag_app.verify.words import weight

BRIDGE = "The suspension bridge at Karrow spans 2.5 kilometers between its towers."
HARBOR = "The harbor authority of Velmont handled 184 containers in March 2019."
SOURCE = IndexedSource(f"{HARBOR} {BRIDGE} Nadia Ferro founded the choir of Tarnfield in 1987.")


def features(claim: str, source: str) -> dict[str, float]:
    return support_of(claim, IndexedSource(source)).features


def test_the_halves_of_a_claim_are_counted_in_words_of_matter() -> None:
    found = features("The harbor of Velmont exports timber.", "The harbor of Velmont is old.")
    assert found["second half"] == found["weaker half"] == 0.0
    turned = features("Timber is exported by the harbor of Velmont.", "The harbor of Velmont is old.")
    assert turned["second half"] == 1.0
    assert turned["weaker half"] == 0.0


def test_a_name_that_the_window_lacks_weighs_the_same_in_a_long_claim() -> None:
    short = features("The choir met Zubrowka.", "The choir met in Tarnfield and sang old songs in spring.")
    long = features("The choir met Zubrowka and sang old songs.", "The choir met in Tarnfield and sang old songs.")
    assert short["names lost"] == long["names lost"] == weight("zubrowka")


def test_a_number_that_stands_elsewhere_in_the_source_is_missing_but_not_absent() -> None:
    far = f"{BRIDGE} {'It rained all day. ' * 3}{HARBOR}"
    found = features("The bridge at Karrow spans 184 kilometers between towers.", far)
    assert (found["numbers missing"], found["number absent"]) == (1.0, 0.0)
    found = features("The bridge at Karrow spans 77 kilometers between towers.", far)
    assert (found["numbers missing"], found["number absent"]) == (1.0, 1.0)


def test_rare_words_are_looked_for_in_the_whole_source() -> None:
    rare = [word for word in ("karrow", "velmont") if weight(word) >= 0.75]
    assert features("Velmont and Karrow.", f"{BRIDGE} {'It rained. ' * 5}{HARBOR}")["rare words found"] == 1.0
    one = weight("karrow") / sum(map(weight, rare))
    assert features("Velmont and Karrow.", BRIDGE)["rare words found"] == pytest.approx(one)


def test_pairs_of_words_are_kept_near_each_other_in_any_order() -> None:
    assert features("Velmont harbor", "The harbor of Velmont is old.")["pairs kept"] == 1.0
    apart = f"The harbor is old. {'Cats sleep on warm windowsills all day long. ' * 4}Velmont is a town."
    assert features("Velmont harbor", apart)["pairs kept"] == 0.0


def test_a_window_about_other_things_is_hardly_used() -> None:
    assert features(BRIDGE, BRIDGE)["window used"] == 1.0
    assert features(BRIDGE, f"{HARBOR} {BRIDGE}")["window used"] < 0.7


def test_a_claim_of_which_nothing_is_found_has_no_support() -> None:
    assert support_of("Zebras graze.", SOURCE) is NOTHING


def test_every_weight_has_the_sign_of_its_meaning() -> None:
    harms = {"numbers missing", "number absent", "names lost"}
    for name, value in zip(default_model().features, default_model().weights, strict=True):
        assert value < 0 if name in harms else value > 0


@given(st.sampled_from((BRIDGE, HARBOR)), st.data())
@settings(max_examples=40)
def test_exchanging_a_word_for_one_that_the_source_lacks_never_raises_the_score(
    claim: str, data: st.DataObject
) -> None:
    words = claim.rstrip(".").split(" ")
    place = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(st.sampled_from(("zubrowka", "Quillon", "77", "merely", "paper")))
    edited = " ".join([*words[:place], other, *words[place + 1 :]]) + "."
    assert support_of(edited, SOURCE).score <= support_of(claim, SOURCE).score
