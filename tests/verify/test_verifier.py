"""Whole answers: statements, their citations, and the report."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.documents import Document

from rag_app.types import ConfigError, Span, UnsupportedClaimsError, Verdict, dumps
from rag_app.verify import Verifier
from rag_app.verify.answer import judge_statement
from rag_app.verify.source import IndexedSource
from rag_app.verify.statements import statements_of

BRIDGE = "The suspension bridge at Karrow spans 2.5 kilometers between its towers. It opened in 1987."
FERRY = "The ferry to Skerry Island leaves twice a day and takes bicycles."
CHUNKS = [
    Document(BRIDGE, id="a:100-191", metadata={"source": "bridge.md", "start_index": 100}),
    Document(FERRY, id="b:0-66", metadata={"source": "ferry.md", "start_index": 0}),
]
verifier = Verifier()


def report_on(text: str, documents=CHUNKS, **settings):
    return Verifier(**settings).invoke({"text": text, "documents": documents})


def test_supported_claims_with_right_markers_score_full_marks() -> None:
    report = report_on("The bridge at Karrow spans 2.5 kilometers between its towers [1]. The ferry to Skerry Island "
                       "leaves twice a day [2].")  # fmt: skip
    assert [v.label for v in report.verdicts] == ["supported", "supported"]
    assert (report.groundedness, report.citation_recall, report.citation_precision) == (1.0, 1.0, 1.0)
    assert report.abstention is None


def test_evidence_refers_to_the_text_of_the_document() -> None:
    evidence = report_on("The suspension bridge at Karrow spans 2.5 kilometers [1].").verdicts[0].evidence[0]
    assert (evidence.source, evidence.chunk_id) == ("bridge.md", "a:100-191")
    assert BRIDGE[evidence.start - 100 : evidence.end - 100] == evidence.text


def test_a_right_fact_with_a_wrong_marker_is_recited_not_deleted() -> None:
    report = report_on("The ferry to Skerry Island leaves twice a day and takes bicycles [1].")
    assert report.verdicts[0].label != "supported"
    assert report.verdicts[0].suggested_citations == (2,)
    assert (report.groundedness, report.citation_recall) == (1.0, 0.0)


def test_an_uncited_claim_is_checked_against_all_and_gets_a_suggestion() -> None:
    report = report_on("The ferry to Skerry Island leaves twice a day and takes bicycles.")
    assert report.verdicts[0].label == "supported"
    assert report.verdicts[0].suggested_citations == (2,)
    assert report.citation_precision is None


def test_a_superfluous_marker_is_named() -> None:
    report = report_on("The ferry to Skerry Island leaves twice a day and takes bicycles [1][2].")
    assert [(s.claim, s.marker) for s in report.superfluous] == [(0, 1)]
    assert report.citation_precision == 0.5


def test_sources_that_disagree_are_both_shown() -> None:
    other = Document("The ferry to Skerry Island takes 40 bicycles.", metadata={"source": "x"})
    same = Document("The ferry to Skerry Island takes 25 bicycles.", metadata={"source": "y"})
    report = report_on("The ferry to Skerry Island takes 25 bicycles [2].", [other, same])
    assert [(c.supporting, c.contradicting) for c in report.conflicts] == [((2,), (1,))]


def test_the_verdict_names_the_sources_that_disagree() -> None:
    documents = ["The fee is 6 euros.", "The fee is 5 euros."]
    (verdict,) = report_on("The fee is 5 euros [1].", documents).verdicts
    assert (verdict.reason or "").endswith("the sources disagree: [2] for it, [1] against it")


def test_a_phantom_marker_leaves_its_claim_uncited() -> None:
    report = report_on("The ferry to Skerry Island leaves twice a day [7].")
    assert report.phantoms == ("7",)
    assert report.verdicts[0].claim.citations == ()
    assert "[7]" not in report.text


@pytest.mark.parametrize("text", ["", "Is there a ferry?", "# Ferries", "I hope this helps!"])
def test_an_answer_without_claims_has_no_shares_and_no_nan(text: str) -> None:
    report = report_on(text)
    assert report.groundedness is None
    assert "NaN" not in dumps(report)


def test_empty_context_supports_nothing() -> None:
    report = report_on("The ferry leaves twice a day [1].", [])
    assert report.verdicts[0].label == "not_found"
    assert report.groundedness == 0.0


def test_a_guard_raises_on_unsupported_claims() -> None:
    with pytest.raises(UnsupportedClaimsError, match="1 of 1 claims"):
        report_on("The moon is made of green cheese [1].", on_unsupported="raise")


def test_missing_input_is_named() -> None:
    with pytest.raises(ConfigError, match="documents"):
        verifier.invoke({"text": "x"})
    with pytest.raises(ConfigError, match="draft"):
        verifier.invoke({"documents": []})


@pytest.mark.parametrize("given", ["a text", None, 5, []])
def test_input_that_is_no_mapping_is_named(given) -> None:
    with pytest.raises(ConfigError, match="the verifier got a"):
        verifier.invoke(given)


@pytest.mark.parametrize("sources", [FERRY, CHUNKS[1], [FERRY], (CHUNKS[1],), iter([FERRY])])
def test_one_source_may_stand_alone(sources) -> None:
    text = "The ferry to Skerry Island leaves twice a day [1]."
    assert verifier.invoke({"text": text, "documents": sources}).citation_recall == 1.0


@pytest.mark.parametrize("sources", [5, {"a": FERRY}, [5], [None]])
def test_sources_of_another_kind_are_named(sources) -> None:
    with pytest.raises(ConfigError, match="source"):
        verifier.invoke({"text": "The ferry leaves.", "documents": sources})
    with pytest.raises(ConfigError, match="source"):
        verifier.verify_claim("The ferry leaves.", sources)


def test_each_verdict_says_which_level_took_how_long() -> None:
    report = report_on("The ferry takes bicycles [2]. It opened in 1987 [1].")
    assert all(v.level == "lexical" and 0 < v.seconds < report.seconds for v in report.verdicts)


@pytest.mark.parametrize(
    "text", ["", " ", "[1]", "?", "# Head", "I think so.", "The sources do not mention it.", "A [9]."]
)
@pytest.mark.parametrize("documents", [[], [""], [Document("")], CHUNKS])
def test_no_figure_is_ever_nan_and_nothing_is_supported_by_nothing(text: str, documents) -> None:
    report = report_on(text, documents)
    dumps(report.summary())  # refuses NaN
    figures = (report.groundedness, report.citation_recall, report.citation_precision, report.checkable_share)
    assert all(figure is None or 0 <= figure <= 1 for figure in figures)
    assert documents == CHUNKS or all(v.label != "supported" for v in report.verdicts)


def test_invoke_ainvoke_and_batch_agree() -> None:
    inputs = {"text": "The ferry to Skerry Island leaves twice a day [2].", "documents": CHUNKS}
    plain = verifier.invoke(inputs).summary()
    others = [asyncio.run(verifier.ainvoke(inputs)).summary(), verifier.batch([inputs])[0].summary()]
    for other in others:
        assert {**other, "seconds": 0} == {**plain, "seconds": 0}


def test_spans_of_claims_lie_in_the_text() -> None:
    report = report_on(
        "Facts:\n\n- The ferry takes bicycles [2].\n- The bridge opened in 1987 [1].\n\n| a | b |\n|---|---|\n| x | 3 |"
    )
    for verdict in report.verdicts:
        assert report.text[slice(*verdict.claim.span)] == verdict.claim.text


class AbstainedDraft:
    text = "I don't have enough information to answer this question."
    evidence = CHUNKS
    abstained = True


def test_an_abstained_draft_has_no_verdicts() -> None:
    report = verifier.invoke({"draft": AbstainedDraft()})
    assert (report.verdicts, report.abstention, report.groundedness) == ((), "abstained", None)
    assert list(verifier.stream_verdicts({"draft": AbstainedDraft()})) == []


class WronglyAbstainedDraft(AbstainedDraft):
    text = "The sources do not say when the bridge at Karrow opened."


def test_an_abstained_draft_whose_evidence_speaks_of_what_it_misses_is_found_out() -> None:
    report = verifier.invoke({"draft": WronglyAbstainedDraft()})
    assert (report.abstention, report.abstained, report.groundedness) == ("abstained although answerable", True, None)
    assert [v.label for v in report.verdicts] == ["contradicted"]
    assert list(verifier.stream_verdicts({"draft": WronglyAbstainedDraft()})) == list(report.verdicts)


@pytest.mark.parametrize(
    "text", ["I don't have enough information to answer this question.", "The sources do not support an answer."]
)
def test_an_abstention_without_a_topic_is_neither_right_nor_wrong(text: str) -> None:
    report = report_on(text, ["Sources of information support an answer to this question, enough of it."])
    assert report.abstention == "abstained"
    assert [v.label for v in report.verdicts] == ["not_checkable"]


@pytest.mark.parametrize("text", ["The sources disagree [1][2].", "However, the documents differ on this point [1]."])
def test_a_sentence_about_the_sources_is_no_factual_claim(text: str) -> None:
    assert [v.claim.kind for v in report_on(text).verdicts] == ["meta"]


def test_verdicts_are_streamed_claim_by_claim() -> None:
    asked = []

    def scorer(pairs):
        asked.append(len(pairs))
        return [(0.9, 0.0)] * len(pairs)

    text = "The bridge opened in 1987 [1]. The ferry takes bicycles [2]."
    model = Verifier(level="entailment", scorer=scorer, cascade=False)
    stream = model.stream_verdicts({"text": text, "documents": CHUNKS})
    first = next(stream)
    before = len(asked)
    rest = list(stream)
    assert len(asked) > before
    wanted = model.invoke({"text": text, "documents": CHUNKS}).verdicts
    assert [(v.claim, v.label) for v in [first, *rest]] == [(v.claim, v.label) for v in wanted]


def test_what_was_read_belongs_to_the_verifier() -> None:
    one, other = Verifier(), Verifier()
    one.verify_claim("The ferry takes bicycles.", [FERRY])
    assert (len(one._cache), len(other._cache)) == (1, 0)


def test_no_judge_is_asked_twice_about_the_same_sources() -> None:
    asked: list[tuple[str, ...]] = []

    def judge(statement, sources):
        asked.append(tuple(source.text for source in sources))
        return Verdict(statement.claim, "supported", 0.9, "scripted", (sources[0].evidence(Span(0, 1)),))

    judge.level = "scripted"
    a, b, c = (IndexedSource(text) for text in ("A is red.", "B is blue.", "C is green."))
    for text, sources in (("It is red [1].", [a]), ("It is red [1].", [a, b]), ("It is red [1][2].", [a, b]),
                          ("It is red [1][2].", [a, b, c]), ("It is red.", [a, b])):  # fmt: skip
        (statement,), _ = statements_of(text, len(sources))
        judged = judge_statement(statement, sources, judge)
        assert len(asked) == len(set(asked)), text
        assert set(judged.alone) == set(range(1, len(sources) + 1))
        asked.clear()
