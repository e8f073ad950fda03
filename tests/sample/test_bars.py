"""What the default pipeline owes its reader, on the sample questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.pipeline import build_chain, build_index
from rag_app.sample import documents_path, questions
from rag_app.settings import Settings


@pytest.mark.model
def test_the_default_finds_answers_and_abstains_as_promised(tmp_path: Path) -> None:
    settings = Settings()
    index, report = build_index(settings, [documents_path()], tmp_path / "index")
    assert report.failed == ()
    chain = build_chain(settings, index)
    asked = questions()
    answers = {question.id: chain.invoke(question.question) for question in asked}
    answerable = [question for question in asked if question.answerable]
    found = [
        question
        for question in answerable
        if {gold.source for gold in question.gold} & {passage.source for passage in answers[question.id].evidence[:5]}
    ]
    refused = [question.id for question in answerable if answers[question.id].abstained]
    abstained = [question.id for question in asked if not question.answerable and answers[question.id].abstained]
    assert len(found) >= 0.9 * len(answerable)
    assert len(refused) <= 3, refused
    assert len(abstained) >= 6, abstained
    for answer in answers.values():
        for citation in answer.citations:
            text = index.document(citation.chunk_id.rpartition(":")[0]).page_content
            assert text[citation.span.start : citation.span.end] == citation.quote
