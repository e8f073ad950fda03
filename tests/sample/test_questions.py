"""The sample questions: every gold passage is the slice of the loaded text that it says it is."""

from __future__ import annotations

from collections import Counter

import pytest

from rag_app.load import load_path
from rag_app.sample import Question, documents_path, questions
from rag_app.types import LoadedDocument

QUESTIONS = questions()


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The text of every sample document by its source, as the loader gives it."""
    loaded = load_path(documents_path())
    assert all(isinstance(item, LoadedDocument) for item in loaded), loaded
    return {item.metadata["source"]: item.page_content for item in loaded if isinstance(item, LoadedDocument)}


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.answerable], ids=lambda q: q.id)
def test_every_gold_passage_is_the_slice_it_says_it_is(question: Question, texts: dict[str, str]) -> None:
    assert question.gold
    for gold in question.gold:
        assert gold.span.slice(texts[gold.source]) == gold.quote
        assert gold.quote.strip() == gold.quote != ""


def test_forty_questions_with_ids_of_their_own_and_eight_without_an_answer() -> None:
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS) == 40
    unanswerable = [question for question in QUESTIONS if not question.answerable]
    assert len(unanswerable) == 8
    assert all(not question.gold for question in unanswerable)
    assert {question.kind for question in unanswerable} == {"unanswerable", "off_topic"}


def test_every_document_answers_some_question(texts: dict[str, str]) -> None:
    assert {gold.source for question in QUESTIONS for gold in question.gold} == set(texts)


def test_the_questions_are_of_many_kinds() -> None:
    kinds = Counter(question.kind for question in QUESTIONS)
    assert set(kinds) == {
        "number", "name", "date", "policy", "table", "csv", "code", "german", "conflict", "two_documents",
        "unanswerable", "off_topic",
    }  # fmt: skip
    assert kinds["conflict"] >= 5


def test_a_conflict_or_a_question_over_two_documents_has_gold_in_two_documents() -> None:
    for question in QUESTIONS:
        if question.kind in {"conflict", "two_documents"}:
            assert len({gold.source for gold in question.gold}) >= 2, question.id


def test_no_question_copies_its_gold_sentence() -> None:
    for question in QUESTIONS:
        asked = question.question.lower().rstrip("?").split()
        for gold in question.gold:
            found = " ".join(gold.quote.lower().split())
            runs = [" ".join(asked[i : i + 6]) for i in range(len(asked) - 5)]
            assert not any(run in found for run in runs), question.id


def test_questions_are_frozen_and_read_the_same_twice() -> None:
    assert questions() == QUESTIONS
    with pytest.raises(AttributeError):
        QUESTIONS[0].answer = "another"  # type: ignore[misc]
