"""The report as HTML."""

from __future__ import annotations

import html
from dataclasses import replace
from html.parser import HTMLParser

from langchain_core.documents import Document

from rag_app.answer import Answer
from rag_app.html import answer_page, report_html, tooltip
from rag_app.verify import Verifier

SOURCE = "The ferry to Skerry Island takes 40 bicycles <daily>."


def report(text: str):
    return Verifier().invoke({"text": text, "documents": [Document(SOURCE, metadata={"source": "f.md"})]})


def text_of(fragment: str) -> str:
    pieces: list[str] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            pieces.append(data)

    Reader().feed(fragment)
    return "".join(pieces)


def test_answer_and_sources_stand_whole_and_escaped() -> None:
    found = report("The ferry to Skerry Island takes 25 bicycles [1]. <script>alert(1)</script>")
    page = report_html(found.text, found.verdicts, [("f.md", SOURCE, 0)], title="A & B")
    assert "<script>" not in page
    assert found.text in text_of(page)
    assert SOURCE in text_of(page)


def test_hovering_a_claim_shows_both_values_and_both_spans() -> None:
    verdict = report("The ferry to Skerry Island takes 25 bicycles [1].").verdicts[0]
    assert verdict.label == "contradicted"
    hover = tooltip(verdict)
    assert '"25' in hover
    assert '"40' in hover
    assert "[33:" in hover


def test_the_page_of_an_answer_says_how_sure_it_is() -> None:
    sure = Answer(question="How many?", text="Forty bicycles.", confidence=0.8125)
    assert "how sure: 0.81" in text_of(answer_page(sure))
    silent = Answer(question="How many?", text="I do not know.", confidence=0.2, abstained=True)
    assert "its evidence answers: 0.20" in text_of(answer_page(silent))
    assert "how sure" not in answer_page(Answer(question="How many?", text="Forty bicycles."))


def test_claims_of_a_withdrawn_text_are_listed_and_not_marked_in_the_abstention() -> None:
    found = report("The ferry to Skerry Island takes 25 bicycles [1].")
    for text in ("No.", "The sources do not support an answer to this question."):
        answer = Answer("How many?", text, (), found.verdicts, confidence=0.1, abstained=True)
        page = answer_page(replace(answer, abstention_reason="below_threshold"))
        assert f"<pre>{text}</pre>" in page
        assert "The ferry to Skerry Island takes 25 bicycles</mark></li>" in page
        assert "how sure of what was withdrawn: 0.10" in page
        declined = answer_page(replace(answer, abstention_reason="model_declined", verdicts=()))
        assert "its evidence answers: 0.10" in declined
        assert "Withdrawn" not in declined


def test_claims_of_a_withdrawn_text_are_marked_in_it() -> None:
    text = "The ferry to Skerry Island takes 25 bicycles [1]. <b>It swims.</b>"
    found = Verifier(policy="abstain").invoke({"text": text, "documents": [SOURCE]})
    answer = Answer("How many?", found.text, (), found.verdicts, report=found.summary(), abstained=True)
    for page in (answer_page(replace(answer, abstention_reason="claims_unsupported")), found._repr_html_()):
        assert f"<pre>{html.escape(found.text)}</pre>" in page
        assert ">The ferry to Skerry Island takes 25 bicycles</mark> [1]." in page.partition("Withdrawn")[2]
        assert "<b>" not in page
        assert text in text_of(page)


def test_a_report_shows_itself_in_a_notebook_and_is_escaped() -> None:
    hostile = "The ferry to Skerry Island takes 25 \"bicycles\" <img src=x onerror=alert(1)> 'daily' [1]."
    page = report(hostile)._repr_html_()
    assert "<img" not in page
    assert hostile in text_of(page)
    assert "The ferry to Skerry Island takes 40 bicycles" in text_of(page)
