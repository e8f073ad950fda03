"""The lexical level: support and conflict checks, claim by claim."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.types import LABELS
from rag_app.verify import Verifier

SENTENCES = (
    "The harbor authority of Velmont handled 184 containers in March 2019.",
    "Nadia Ferro founded the choir of Tarnfield in 1987 with 25 singers.",
    "The suspension bridge at Karrow spans 2.5 kilometers between its towers.",
    "Battery modules of the older firmware support hot swapping in 40 seconds.",
    "The committee approved the budget of 90 million euros on 7 November 2018.",
)
UNRELATED = "Cats sleep on warm windowsills. Gardeners water the tulips each evening."
sentences = st.sampled_from(SENTENCES)
verifier = Verifier()


def verify(claim: str, *sources: str):
    return verifier.verify_claim(claim, sources)


@given(sentences)
@settings(max_examples=10)
def test_a_claim_copied_from_the_source_is_supported(sentence: str) -> None:
    source = " ".join(SENTENCES)
    verdict = verify(sentence, source)
    assert verdict.label == "supported"
    assert sentence in verdict.evidence[0].text


@given(sentences, st.data())
@settings(max_examples=30)
def test_changing_a_digit_never_raises_the_score(sentence: str, data: st.DataObject) -> None:
    places = [m.start() for m in re.finditer(r"\d", sentence)]
    place = data.draw(st.sampled_from(places)) if places else 0
    digit = data.draw(st.sampled_from("123456789"))
    edited = sentence[:place] + digit + sentence[place + 1 :] if places else sentence
    source = " ".join(SENTENCES)
    assert verify(edited, source).score <= verify(sentence, source).score


@pytest.mark.parametrize("sentence", SENTENCES)
def test_adding_not_never_raises_the_score(sentence: str) -> None:
    words = sentence.split(" ")
    for place in range(1, len(words)):
        edited = " ".join([*words[:place], "not", *words[place:]])
        assert verify(edited, " ".join(SENTENCES)).score <= verify(sentence, " ".join(SENTENCES)).score


@given(st.permutations(SENTENCES), sentences)
@settings(max_examples=20)
def test_the_order_of_the_sources_does_not_matter(order: list[str], claim: str) -> None:
    first, other = verify(claim, *SENTENCES), verify(claim, *order)
    assert (first.label, first.score) == (other.label, other.score)
    assert [e.text for e in first.evidence] == [e.text for e in other.evidence]


def test_an_unrelated_source_never_turns_contradicted_into_supported() -> None:
    claim = "The harbor authority of Velmont handled 999 containers in March 2019."
    assert verify(claim, SENTENCES[0]).label == "contradicted"
    assert verify(claim, SENTENCES[0], UNRELATED).label == "contradicted"
    assert verify(claim, UNRELATED, SENTENCES[0]).label == "contradicted"


@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=3))
@settings(max_examples=60)
def test_whatever_comes_in_the_verdict_is_sound(claim: str, sources: list[str]) -> None:
    verdict = verify(claim, *sources)
    assert verdict.label in LABELS
    assert 0 <= verdict.score <= 1
    assert not math.isnan(verdict.score)
    assert verdict.evidence or verdict.label != "supported"
    for evidence in verdict.evidence:
        assert any(source[evidence.start : evidence.end] == evidence.text for source in sources)
    for check in verdict.checks:
        if check.source_value is not None:
            assert any(check.source_value in source for source in sources)
        if check.claim_span is not None:
            assert check.claim_value == claim[slice(*check.claim_span)]


@pytest.mark.parametrize("sources", [(), ("",), ("   ",)])
def test_empty_context_supports_nothing(sources: tuple[str, ...]) -> None:
    verdict = verify(SENTENCES[0], *sources)
    assert (verdict.label, verdict.score, verdict.evidence) == ("not_found", 0.0, ())


@pytest.mark.parametrize("claim", ["", "  ", "..."])
def test_a_claim_without_words_cannot_be_checked(claim: str) -> None:
    assert verify(claim, SENTENCES[0]).label == "not_checkable"


LINDEN = "Project Linden is led by the hydrology group at Norra Institute."
MOVED = "The hydrology group at Norra Institute moved to Umeå in 2019."


@pytest.mark.parametrize("sources", [(LINDEN, MOVED), (MOVED, UNRELATED, LINDEN)])
def test_two_sources_about_one_thing_support_a_claim_together(sources: tuple[str, ...]) -> None:
    verdict = verify("The group that leads Project Linden moved to Umeå in 2019.", *sources)
    assert verdict.label == "supported"
    for evidence in verdict.evidence:
        assert evidence.text == sources[int(evidence.source) - 1][evidence.start : evidence.end]


def test_windows_about_different_things_are_not_joined() -> None:
    verdict = verify(
        "Model R2 charges in 25 minutes and costs 38,000 dollars.",
        "Model R2 has a range of 410 km.",
        "Model R3 charges in 25 minutes and costs 38,000 dollars.",
    )
    assert verdict.label != "supported"


@pytest.mark.parametrize(
    ("sentence", "unit", "other"),
    [
        (SENTENCES[2], "kilometers", "meters"),
        (SENTENCES[2], "kilometers", "miles"),
        (SENTENCES[3], "seconds", "minutes"),
        (SENTENCES[4], "million", "billion"),
        (SENTENCES[4], "euros", "dollars"),
        (SENTENCES[0], "2019", "2018"),
        (SENTENCES[4], "7 November", "8 November"),
    ],
)
def test_changing_a_unit_or_a_date_never_raises_the_score(sentence: str, unit: str, other: str) -> None:
    source = " ".join(SENTENCES)
    edited = verify(sentence.replace(unit, other), source)
    assert edited.score <= verify(sentence, source).score
    assert edited.label != "supported"


def test_a_claim_is_supported_only_when_each_part_is() -> None:
    source = "The ferry to Skerry Island leaves twice a day and takes bicycles. The harbor cafe sells fish."
    assert verify("The ferry to Skerry Island leaves twice a day and takes bicycles.", source).label == "supported"
    some = verify("The ferry to Skerry Island leaves twice a day, and its captain collects antique violins.", source)
    assert some.label == "partially_supported"


def test_a_number_of_another_matter_is_no_contradiction() -> None:
    verdict = verify("The warranty lasts ten years.", "The museum was closed for three years. The ferry leaves daily.")
    assert verdict.label == "not_found"


def test_a_copied_sentence_with_a_quotation_has_the_speaker_it_had() -> None:
    source = 'She said little. He also wrote about her "generosity of spirit" and love of the outdoors, in north wales.'
    claim = source[17:]
    verdict = verify(claim, source)
    assert verdict.label == "supported"
    assert not [check for check in verdict.checks if check.outcome == "fail"]


def test_a_copied_sentence_that_sounds_like_an_abstention_is_supported() -> None:
    claim = "If you cannot find the information on mine warfare you are looking for, please contact the school."
    assert verify(claim, f"The school teaches mine warfare. {claim}").label == "supported"
    assert verify("I cannot find information on mine warfare.", f"{UNRELATED} {claim}").label == "contradicted"


def test_a_sentence_of_the_source_is_supported_whatever_others_deny_in_its_words() -> None:
    source = (
        "Use this flag to not install the plugin llm-sentence-transformers for LLM. It is slow.\n"
        "More on this below, with an example:\n\nllm install llm-sentence-transformers\n"
    )
    verdict = Verifier().verify_claim("llm install llm-sentence-transformers", [source])
    assert verdict.label == "supported"
    assert not any(check.outcome == "fail" for check in verdict.checks)


def test_a_quotation_of_two_sentences_is_read_as_it_stands() -> None:
    source = (
        'His ledger says "By Cash for 9 Teeth on Acct of Dr. Lemoire." Others ask who that was. '
        '"Dr. Lemoire," Gehred said, was a reference to Dr. Jean Le Mayeur. "He was a dentist."'
    )
    claim = '"Dr. Lemoire," Gehred said, was a reference to Dr. Jean Le Mayeur. "He was a dentist."'
    assert Verifier().verify_claim(claim, [source]).label == "supported"


def test_a_sentence_of_the_source_is_in_its_language_whatever_names_it_holds() -> None:
    claim = "沃伊切赫波古斯洛斯基剧院 (Wojciech Bogusławski Theatre) (1922–26) 是“波兰纪念剧院”的最佳典范。"
    source = f"华沙有许多剧院。{claim}它们吸引了许多游客。这座城市的历史可以追溯到中世纪。"
    assert Verifier().verify_claim(claim, [source]).label == "supported"
