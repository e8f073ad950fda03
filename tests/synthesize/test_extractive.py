"""Extractive answers: verbatim sentences with their markers, typed abstentions, disagreement named."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document

from rag_app.cite import bind, claims, parse_markers
from rag_app.synthesize import ExtractiveSynthesizer, pack
from rag_app.synthesize.base import Abstained, DraftDone, Token, joined, shown
from rag_app.trace import Ranked, Removal, RetrievalTrace
from rag_app.types import ConfigError

PUMP = Document(
    "About pumps. The MX-400 pump weighs 12 kg [3]. It starts at most 40 times per hour.",
    id="d1:100-183",
    metadata={"source": "datasheet.md", "doc_id": "d1", "start_index": 100, "page": 2},
)
MEMO = Document("The MX-400 pump weighs 14 kg since May.", id="d2:0-39", metadata={"source": "memo.md"})
CATS = Document("Cats sleep a lot and purr when they are happy.", id="d3:0-46", metadata={"source": "cats.md"})


def ask(question: str, evidence: list[Document], **more: Any) -> Any:
    return ExtractiveSynthesizer().invoke({"question": question, "evidence": evidence, **more})


def test_the_answer_is_a_sentence_of_the_evidence_with_its_marker() -> None:
    draft = ask("How much does the MX-400 pump weigh?", [CATS, PUMP])
    assert not draft.abstained
    citation = draft.citations[0]
    assert citation.quote == "The MX-400 pump weighs 12 kg [3]."
    assert PUMP.page_content[citation.span.start - 100 : citation.span.end - 100] == citation.quote
    assert (citation.marker, citation.source, citation.page) == (2, "datasheet.md", 2)
    assert 0 < draft.confidence <= 1


def test_numbers_in_brackets_of_the_source_are_not_shown_as_markers_of_ours() -> None:
    draft = ask("How much does the MX-400 pump weigh?", [PUMP])
    assert "[3]" not in draft.text
    assert draft.text.startswith("The MX-400 pump weighs 12 kg. [1]")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("The format is [1] %s.", "The format is %s."),
        ("The share is 12 [4]%.", "The share is 12%."),
        ("The pump [3] weighs 12 kg [4] .", "The pump weighs 12 kg."),
    ],
)
def test_the_blank_beside_a_bracket_of_the_source_stays_where_it_belongs(source: str, text: str) -> None:
    assert shown(source) == text


def test_a_question_about_something_else_is_not_answered() -> None:
    draft = ask("What is the capital of Mongolia?", [CATS, PUMP])
    assert draft.abstained
    assert draft.abstention_reason == "below_threshold"
    assert draft.citations == ()
    assert draft.evidence


def test_sources_that_disagree_are_both_cited_and_named() -> None:
    draft = ask("How much does the MX-400 pump weigh?", [PUMP, MEMO])
    assert {citation.source for citation in draft.citations} == {"datasheet.md", "memo.md"}
    assert "disagree [1][2]" in draft.text
    assert draft.warnings


def test_the_reason_for_missing_evidence_is_typed() -> None:
    assert ask("q", []).abstention_reason == "no_candidates"
    assert ask("q", [], filter={"a": 1}).abstention_reason == "filter_matched_nothing"
    assert ask("q", [], candidates=[PUMP]).abstention_reason == "below_threshold"
    trace = RetrievalTrace("q", removed=(Removal("c", "rerank", "below threshold"),))
    assert ask("q", Ranked([], trace)).abstention_reason == "below_threshold"
    assert ask("q", [Document("  ")]).abstention_reason == "no_candidates"


def test_the_evidence_stays_as_it_was() -> None:
    before = [document.model_copy(deep=True) for document in (CATS, PUMP)]
    ask("How much does the MX-400 pump weigh?", [CATS, PUMP])
    assert before == [CATS, PUMP]


async def test_the_ways_to_ask_agree() -> None:
    synthesizer = ExtractiveSynthesizer()
    inputs = {"question": "How much does the MX-400 pump weigh?", "evidence": [CATS, PUMP]}
    answers = [synthesizer.invoke(inputs), await synthesizer.ainvoke(inputs), *synthesizer.batch([inputs])]
    events = list(synthesizer.stream_draft(inputs))
    assert isinstance(events[-1], DraftDone)
    answers.append(events[-1].draft)
    assert len({(draft.text, draft.citations, draft.confidence) for draft in answers}) == 1
    assert "".join(event.text for event in events if isinstance(event, Token)) == answers[0].text


def test_an_abstention_streams_as_one() -> None:
    events = list(ExtractiveSynthesizer().stream_draft({"question": "q", "evidence": []}))
    assert [type(event) for event in events] == [Abstained, DraftDone]


def test_a_missing_question_or_evidence_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="question"):
        ExtractiveSynthesizer().invoke({"question": " ", "evidence": []})
    with pytest.raises(ConfigError, match="evidence"):
        ExtractiveSynthesizer().invoke({"question": "q"})


def test_near_duplicates_of_one_source_are_dropped_and_equal_texts_of_two_sources_stay() -> None:
    text = "The warranty of the pump is 24 months from the date of purchase."
    one, again = (Document(text, id=i, metadata={"source": "a.md"}) for i in "xy")
    other = Document(text, id="z", metadata={"source": "b.md"})
    packed = pack([one, again, other], budget=None)
    assert [document.id for document in packed] == ["x", "z"]
    assert [(removal.chunk_id, removal.rule) for removal in packed.trace.removed] == [("y", "duplicate")]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who wrote it?", "person"),
        ("When was it built?", "date"),
        ("How many pumps are there?", "number"),
        ("Wie viele Pumpen gibt es?", "number"),
        ("Wann wurde es gebaut?", "date"),
        ("多少钱？", "number"),
        ("Where is it?", "place"),
        ("Why is it red?", None),
    ],
)
def test_the_expected_kind_of_answer_is_read_from_the_question(question: str, kind: str | None) -> None:
    from rag_app.synthesize.expects import expected

    assert expected(question) == kind


@pytest.mark.parametrize(
    ("question", "sentence", "numbers"),
    [
        ("How long do cartridges last?", "In hard water it was 118 days, 42 percent shorter.", ["118"]),
        ("What does an AS-5 cost?", "AS-5; list_price_usd: 38.50; weight_kg: 0.6", ["38.50"]),
        ("What lead time did they quote?", "A small foundry gave us 12 samples.", []),
        ("How deep is the basin at berth 3?", "Berth 3 takes ships of at most 3.8 metres.", ["3.8"]),
        ("Wie tief ist das Becken?", "Am Liegeplatz 3 liegen 12 Schiffe.", []),
        ("What is the phone number of the office?", "Call 0471 2260-15 before 9 o'clock.", ["0471 2260-15"]),
        ("What is the phone number of the office?", "Things are kept for 6 weeks.", []),
        ("How many hours a day do cats sleep?", "Cats sleep for sixteen hours a day.", ["sixteen"]),
        ("Wie lange dauert der Umbau?", "Er dauert zwölf Wochen und kostet 300 Euro.", ["zwölf"]),
    ],
)
def test_numbers_count_only_with_the_unit_that_is_asked_for(question: str, sentence: str, numbers: list[str]) -> None:
    from rag_app.synthesize.measures import measure_of, numbers_with

    measure = measure_of(question)
    assert measure is not None
    assert numbers_with(sentence, measure) == numbers


def test_a_number_of_something_else_is_no_disagreement() -> None:
    from rag_app.synthesize.conflicts import disagreement
    from rag_app.synthesize.relevance import units_of

    rule = Document("The controller stops the pump after 20 seconds without flow.", metadata={"source": "a.md"})
    log = Document("The pump ran without flow for 11 minutes on May 23.", metadata={"source": "b.md"})
    newer = Document("The controller stops the pump after 12 seconds without flow.", metadata={"source": "c.md"})
    question = "After how many seconds without flow does the controller stop the pump?"
    units = units_of([rule, log])
    assert disagreement(question, units, units, [rule, log]) is None
    units = units_of([rule, newer])
    assert disagreement(question, units[:1], units, [rule, newer]) == (units[0], units[1])


@pytest.mark.parametrize(
    "metadata", [{"page": "iii"}, {"page": float("nan")}, {"section_path": 5}, {"start_index": -1}]
)
def test_anybodys_metadata_is_evidence(metadata: dict[str, Any]) -> None:
    evidence = [Document("The warranty of the pump is 24 months.", metadata=metadata)]
    draft = ExtractiveSynthesizer(threshold=0).invoke({"question": "How long is the warranty?", "evidence": evidence})
    (citation,) = draft.citations
    assert evidence[0].page_content[citation.span.start : citation.span.end] == citation.quote


def test_evidence_without_a_sentence_is_an_abstention_at_any_threshold() -> None:
    passages = [Document("###\n---\n", id="x")]
    draft = ExtractiveSynthesizer(threshold=0).invoke({"question": "What is it?", "evidence": passages})
    assert (draft.abstained, draft.abstention_reason, draft.confidence) == (True, "below_threshold", 0.0)


def test_evidence_that_is_no_document_is_refused_at_the_door() -> None:
    with pytest.raises(ConfigError, match="list of Documents"):
        ExtractiveSynthesizer().invoke({"question": "What is it?", "evidence": ["a text"]})


def test_a_possessive_is_the_name_itself() -> None:
    from rag_app.synthesize.relevance import bag, question_terms

    assert bag("Varrick's pumps") == bag("Varrick pumps") == bag("Varrick’s pumps")
    terms = question_terms("How long do we have to pay Varrick's invoices?", [bag("Varrick sends invoices.")])
    assert terms.names == {"varrick"}


def test_a_name_that_heads_the_whole_document_is_of_no_other_section() -> None:
    from rag_app.synthesize.relevance import SIGNALS, signals, units_of

    passage = Document(
        "# MX-400\n\nA pump.\n\n## Data\n\nIt draws 4 amperes.\n\n## MX-500\n\nIt draws 7 amperes.",
        metadata={"source": "a", "section_path": ["MX-400"]},
    )
    units = units_of([passage])
    column = SIGNALS.index("names_away")

    def away(question: str) -> dict[str, bool]:
        table = signals(question, [passage], units)
        return {unit.text: bool(row[column]) for unit, row in zip(units, table, strict=True)}

    assert not away("How much current does the MX-400 draw?")["It draws 4 amperes."]
    assert away("How much current does the MX-500 draw?")["It draws 4 amperes."]
    assert not away("How much current does the MX-500 draw?")["It draws 7 amperes."]


def test_a_fragment_without_an_end_mark_is_a_claim_of_its_own() -> None:
    text = joined(
        ["Warranty: 24 months [1]", "Filter: every 6 months [2]", "It weighs 12 kg. [1]", "The hose is red. [2]"]
    )
    found = [(claim.text, claim.citations) for claim in claims(bind(parse_markers(text, 2)))]
    assert found == [
        ("Warranty: 24 months", (1,)),
        ("Filter: every 6 months", (2,)),
        ("It weighs 12 kg.", (1,)),
        ("The hose is red.", (2,)),
    ]
    assert text.endswith("It weighs 12 kg. [1] The hose is red. [2]")
