"""Claims and sources in other languages: within one language as in English, across two on numbers and names only."""

from __future__ import annotations

import pytest

from rag_app.verify import Verifier

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


@pytest.mark.parametrize(
    ("claim", "source", "label"),
    [
        ("收入为500万元", "收入为五百万元。", "supported"),
        ("收入为600万元", "收入为五百万元。", "contradicted"),
        ("工厂有3200名员工", "工厂有三千二百名员工。", "supported"),
        ("橋は2023年に開通した。", "橋は令和5年に開通した。", "supported"),
    ],
)
def test_han_numerals_are_compared_and_years_of_a_reign_left_open(claim: str, source: str, label: str) -> None:
    assert Verifier().verify_claim(claim, [source]).label == label


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Завод в городе не закрылся", "Завод в городе закрылся."),
        ("De pomp van de fabriek is niet rood", "De pomp van de fabriek is rood."),
        ("A bomba da fábrica não é vermelha", "A bomba da fábrica é vermelha."),
        ("Das Museum öffnet montags nicht", "Das Museum öffnet montags."),
        ("Die Stadt hat keinen Flughafen", "Die Stadt hat einen Flughafen."),
        ("Le musée n'est pas ouvert le lundi", "Le musée est ouvert le lundi."),
        ("La ville n'a plus de gare", "La ville a une gare."),
        ("La ciudad no tiene aeropuerto", "La ciudad tiene aeropuerto."),
        ("La fábrica jamás produjo bombas rojas", "La fábrica produjo bombas rojas."),
        ("博物馆周一不开放", "博物馆周一开放。"),
        ("该桥没有在1887年开通", "该桥在1887年开通。"),
        ("该药物对儿童无效", "该药物对儿童有效。"),
        ("公司从未盈利", "公司盈利。"),
        ("図書館は日曜日に開いていません", "図書館は日曜日に開いています。"),
        ("この橋は1887年に開通しなかった", "この橋は1887年に開通した。"),
        ("この薬は子供に効果がない", "この薬は子供に効果がある。"),
    ],
)
def test_a_denial_in_other_languages_contradicts(claim: str, source: str) -> None:
    assert Verifier().verify_claim(claim, [source]).label == "contradicted"
    assert Verifier().verify_claim(source, [f"{claim}."]).label == "contradicted"
    assert Verifier().verify_claim(claim, [f"{claim}."]).label == "supported"
    assert Verifier().verify_claim(source, [source]).label == "supported"


@pytest.mark.parametrize(
    ("claim", "source", "supported"),
    [
        (
            "Le chiffre d'affaires était de 1,5 million d'euros.",
            "Le chiffre d'affaires était de 1 500 000 euros.",
            True,
        ),
        ("Los ingresos fueron de 1,5 millones de euros.", "Los ingresos fueron de 1.500.000 euros.", True),
        ("Los ingresos fueron de 1,6 millones de euros.", "Los ingresos fueron de 1.500.000 euros.", False),
        ("Der Anteil stieg auf 12 Prozent.", "Der Anteil sank auf 12 Prozent.", False),
        ("La part a augmenté de 12 pour cent.", "La part a diminué de 12 pour cent.", False),
        ("La cuota aumentó un 12 por ciento.", "La cuota disminuyó un 12 por ciento.", False),
        ("Der Plan muss Diebstahl abdecken.", "Der Plan kann Diebstahl abdecken.", False),
    ],
)
def test_units_directions_and_modality_of_other_languages(claim: str, source: str, supported: bool) -> None:
    assert (Verifier().verify_claim(claim, [source]).label == "supported") == supported


def test_the_parts_of_a_date_that_the_source_writes_in_numbers_are_not_absent() -> None:
    claim = "The museum of modern art in Berlin was opened to the public on 3 October 1990."
    verdict = Verifier().verify_claim(claim, [claim.replace("3 October 1990", "03.10.1990")])
    assert [(check.name, check.outcome) for check in verdict.checks] == [("date", "pass")]
