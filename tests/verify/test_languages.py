"""Claims and sources in other languages: within one language as in English, across two on numbers and names only."""

from __future__ import annotations

import pytest

from rag_app.verify import Verifier
from rag_app.verify.lexical import FOREIGN

GERMAN = "Die Brücke wurde im Jahr 1887 nach nur vierzehn Monaten Bauzeit eröffnet und ist 2,5 Kilometer lang."
verifier = Verifier()


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Die Brücke ist 2.500 Meter lang und wurde im Jahr 1887 eröffnet.", GERMAN),
        ("Le pont mesure 2,5 kilomètres entre ses deux tours.", "Le pont mesure 2,5 kilomètres entre ses deux tours."),
        ("大桥于1887年开通，全长2.5公里。", "大桥于1887年开通，全长2.5公里。"),
    ],
)
def test_a_claim_in_the_language_of_its_source_is_supported(claim: str, source: str) -> None:
    assert verifier.verify_claim(claim, [source]).label == "supported"


@pytest.mark.parametrize(
    "claim", ["Die Brücke wurde im Jahr 1888 eröffnet.", "Die Brücke wurde im Jahr 1887 nicht eröffnet."]
)
def test_a_changed_year_or_a_denial_is_not_supported(claim: str) -> None:
    assert verifier.verify_claim(claim, [GERMAN]).label != "supported"


def test_a_claim_in_another_language_is_handed_on_and_the_reason_says_so() -> None:
    verdict = verifier.verify_claim("The bridge was opened in 1887 and it is very long.", [GERMAN])
    assert (verdict.label, verdict.reason) == ("not_found", FOREIGN)
    cascade = Verifier(level="entailment", scorer=lambda pairs: [(0.9, 0.0)] * len(pairs))
    assert cascade.verify_claim("The bridge was opened in 1887 and it is very long.", [GERMAN]).level == "entailment"


@pytest.mark.parametrize(
    ("claim", "source", "label"),
    [
        ("水泵在2019年停产", "水泵在2018年停产。", "contradicted"),
        ("水泵在2018年停产", "水泵在2018年停产。", "supported"),
        ("该工厂有25名员工", "该工厂有35名员工。", "contradicted"),
        ("该工厂有35名员工", "工厂在2001年有35名员工，在2005年有90名员工。", "supported"),
        ("收入为500万元", "收入为300万元。", "contradicted"),
        ("売上は500億円だった", "売上は300億円だった。", "contradicted"),
        ("売上は300億円だった", "売上は300億円だった。", "supported"),
    ],
)
def test_numbers_are_read_where_no_space_stands_before_them(claim: str, source: str, label: str) -> None:
    assert Verifier().verify_claim(claim, [source]).label == label


def test_digits_beside_a_number_in_han_numerals_are_no_conflict() -> None:
    checks = Verifier().verify_claim("收入为500万元", ["收入为五百万元。"]).checks
    assert [check.outcome for check in checks] == ["unknown"]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Завод в городе не закрылся", "Завод в городе закрылся."),
        ("De pomp van de fabriek is niet rood", "De pomp van de fabriek is rood."),
        ("A bomba da fábrica não é vermelha", "A bomba da fábrica é vermelha."),
    ],
)
def test_a_denial_in_other_languages_contradicts(claim: str, source: str) -> None:
    assert Verifier().verify_claim(claim, [source]).label == "contradicted"
    assert Verifier().verify_claim(claim, [f"{claim}."]).label == "supported"
    assert Verifier().verify_claim(source, [source]).label == "supported"
