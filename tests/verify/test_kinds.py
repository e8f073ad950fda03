"""Kinds of statements: only the factual ones are checked, and when in doubt a sentence is factual."""

from __future__ import annotations

import time

import pytest

from rag_app.verify.kinds import kind_of

KINDS = {
    "abstention": [
        "The sources do not mention the price.",
        "I don't have enough information to answer this question.",
        "I can't find this in the provided documents.",
        "There is no information about the price in the documents.",
        "Not enough information is available.",
        "It is not stated in the text when the bridge opened.",
        "The exact process cannot be determined from the given context.",
        "I don't know the answer.",
        "None of the sources mention the price.",
        "The sources are silent on the price.",
        "This question cannot be answered from the sources.",
        "Die Quellen nennen den Preis nicht.",
        "In den Dokumenten finden sich keine Angaben zum Preis.",
        "Die Frage kann anhand der Quellen nicht beantwortet werden.",
        "Ich weiß es nicht.",
        "Les sources ne mentionnent pas le prix.",
        "Je ne sais pas.",
        "Las fuentes no mencionan el precio.",
        "No hay información sobre el precio en los documentos.",
        "资料中没有提到价格。",
        "資料には価格の記載がありません。",
    ],
    "factual": [
        "The company does not provide insurance.",
        "He did not answer the letter.",
        "I Love Lucy was not available in 1960.",
        "The evidence was not found until 1987.",
        "No information about the victims was released by police.",
        "It cannot be determined which is older.",
        "The text of the law states that theft is a crime.",
        "Consider Phlebas is a novel by Iain Banks.",
        "Personally identifiable data is deleted after 30 days.",
        "Sure Start is a UK program.",
        "Certainly not all swans are white.",
        "Queen Elizabeth I believed in peace.",
        "The following year, sales rose.",
        "Both documents were signed in 1990.",
        'Lee said: "I think the bridge is safe."',
        '"The sources do not mention it," said Lee.',
    ],
    "meta": [
        "Here is a summary of the findings.",
        "I hope this helps!",
        "Sure, here is the answer.",
        "The sources disagree on this point.",
        "Die Quellen widersprechen sich.",
        "Ich hoffe, das hilft!",
        "Voici un résumé :",
        "以下是总结：",
    ],
    "opinion": ["In my opinion, it is too long.", "Ich finde das gut.", "Creo que es bueno.", "我认为这很好。"],
    "question": ["Is it true?", "你知道吗？", "¿Cuándo abrió?"],
    "instruction": ["Please check the report.", "Bitte prüfen Sie den Vertrag.", "请检查报告。"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts])
def test_a_sentence_is_of_its_kind(kind: str, text: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize("piece", ["the sources do not ", "no information ", "i ", '"a ', "quellen nicht ", "a"])
def test_the_time_is_linear_in_the_length(piece: str) -> None:
    def seconds(times: int) -> float:
        started = time.process_time()
        kind_of(piece * times)
        return time.process_time() - started

    assert seconds(16_000) < 0.5 + 8 * seconds(4_000)
