"""A claim in another language than its source: numbers, dates and names are compared and support nothing alone."""

from __future__ import annotations

import pytest

from rag_app.verify import Verifier
from rag_app.verify.foreign import FOREIGN, script_of

PAIRS = [
    ("Die Brücke wurde 1887 eröffnet und ist 2,5 Kilometer lang.", "The bridge was opened in 1887 and is 2.5 km long.",
     "not_checkable"),
    ("Die Brücke wurde 1888 eröffnet und ist 2,5 Kilometer lang.", "The bridge was opened in 1887 and is 2.5 km long.",
     "not_found"),
    ("Angela Merkel wurde am 22. November 2005 Kanzlerin.", "Angela Merkel became chancellor on 22 November 2005.",
     "not_checkable"),
    ("Angela Merkel wurde am 23. November 2005 Kanzlerin.", "Angela Merkel became chancellor on 22 November 2005.",
     "contradicted"),
    ("The bridge was opened in 1887 and it is very long.",
     "Die Brücke wurde im Jahr 1887 nach vierzehn Monaten Bauzeit eröffnet.", "not_checkable"),
    ("The bridge was opened in 1887 and has 500 lamps.", "大桥于1887年开通，有五百盏灯。", "not_checkable"),
    ("The bridge was opened in 1888 and has 500 lamps.", "大桥于1887年开通，有五百盏灯。", "contradicted"),
    ("该工厂有25名员工。", "The factory has 35 employees.", "not_found"),
    ("Sales rose by 12 percent in 2020.", "売上は2020年に12％増加した。", "not_checkable"),
    ("Sales rose by 15 percent in 2020.", "売上は2020年に12％増加した。", "contradicted"),
    ("その橋は二〇二四年三月五日に開通した。", "The bridge was opened on 5 March 2024.", "not_checkable"),
    ("فتح الجسر عام ٢٠٢٤", "The bridge was opened in 2024.", "not_checkable"),
    ("The bridge is beautiful.", "Die Brücke ist wirklich sehr schön und alt.", "not_checkable"),
    ("該橋於1887年開通並使用", "その橋は1887年に開通した。", "not_checkable"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source", "label"), PAIRS)
def test_numbers_and_names_alone_support_nothing_and_may_contradict(claim: str, source: str, label: str) -> None:
    verdict = Verifier().verify_claim(claim, [source])
    assert (verdict.label, verdict.reason) == (label, FOREIGN)
    for check in verdict.checks:
        assert check.claim_span.slice(claim) == check.claim_value
        if check.source_value is not None:
            assert check.evidence_span.slice(source) == check.source_value
    for evidence in verdict.evidence:
        assert source[evidence.start : evidence.end] == evidence.text


def test_a_source_in_the_language_of_the_claim_decides_beside_a_foreign_one() -> None:
    claim = "The bridge was opened in 1887."
    foreign = "Die Brücke wurde im Jahr 1888 nach nur vierzehn Monaten Bauzeit eröffnet."
    assert Verifier().verify_claim(claim, [foreign, claim]).label == "supported"
    assert Verifier().verify_claim(claim, [foreign, "Cats are asleep in the shed."]).reason == FOREIGN


@pytest.mark.parametrize(("claim", "source", "label"), PAIRS)
def test_a_higher_level_is_asked_about_a_foreign_source(claim: str, source: str, label: str) -> None:
    asked: list[tuple[str, str]] = []

    def scorer(pairs: list[tuple[str, str]]) -> list[tuple[float, float]]:
        asked.extend(pairs)
        return [(0.9, 0.0)] * len(pairs)

    verdict = Verifier(level="entailment", scorer=scorer).verify_claim(claim, [source])
    assert [premise for premise, _ in asked] == [source]
    assert verdict.level == "entailment"
    assert (verdict.label == "supported") == (label == "not_checkable")
    assert verdict.evidence


@pytest.mark.parametrize(
    ("text", "script"),
    [("Brücke", "latin"), ("大桥", "han"), ("橋が", "kana"), ("다리", "hangul"), ("мост", "cyrillic"),
     ("جسر", "arabic"), ("2024 😀", ""), ("", "")],
)  # fmt: skip
def test_a_text_has_the_script_of_most_of_its_letters(text: str, script: str) -> None:
    assert script_of(text) == script


@pytest.mark.parametrize(
    ("claim", "source", "label"),
    [
        ("The lamp costs 5.000 euros.", "Die Lampe kostet 5.000 Euro.", "not_checkable"),
        ("Die Lampe kostet 5.000 Euro.", "The lamp costs 5,000 euros.", "not_checkable"),
        ("Die Lampe kostet 6.000 Euro.", "The lamp costs 5,000 euros.", "contradicted"),
        ("Die Garantie beträgt 36 Monate.", "The warranty is 24 months from purchase.", "not_found"),
        ("Die Reise dauert 3 Tage.", "The journey takes 5 days.", "not_found"),
    ],
)
def test_one_function_word_on_each_side_tells_two_short_texts_apart(claim: str, source: str, label: str) -> None:
    verdict = Verifier().verify_claim(claim, [source])
    assert (verdict.label, verdict.reason) == (label, FOREIGN)
    numbers = [(check.outcome, bool(check.source_value)) for check in verdict.checks if check.name == "number"]
    assert numbers == [("pass" if label == "not_checkable" else "fail", True)]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Las Vegas expanded quickly.", "The city grew."),
        ("La Scala opened again.", "The opera house reopened."),
        ("Die Hard earned money.", "The film was profitable."),
        ("Der Spiegel reported losses.", "The magazine told readers."),
        ("The Tarn bridge opened.", "Los Angeles closed."),
    ],
)
def test_a_name_in_another_language_makes_no_text_foreign(claim: str, source: str) -> None:
    assert Verifier().verify_claim(claim, [source]).reason != FOREIGN
