"""What the prompt is made of: a delimiter that no document can know, a conversation without old markers."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage

from rag_app.synthesize.prompt import make_delimiter, without_markers

PASSAGE = Document("The pump weighs 12 kg.", id="d", metadata={"source": "a.md", "section_path": ["Pumps"]})


def test_a_delimiter_is_random_unless_it_must_be_found_again() -> None:
    assert make_delimiter("q", [PASSAGE]) != make_delimiter("q", [PASSAGE])
    assert make_delimiter("q", [PASSAGE], repeatable=True) == make_delimiter("q", [PASSAGE], repeatable=True)


@pytest.mark.parametrize(
    "other",
    [
        Document("The pump weighs 13 kg.", metadata=PASSAGE.metadata),
        Document(PASSAGE.page_content, metadata=PASSAGE.metadata | {"source": "b.md"}),
        Document(PASSAGE.page_content, metadata=PASSAGE.metadata | {"section_path": ["Valves"]}),
    ],
)
def test_whatever_a_document_puts_into_the_prompt_changes_the_delimiter(other: Document) -> None:
    """A document that names the delimiter of others would have to hold a hash of itself."""
    assert make_delimiter("q", [other], repeatable=True) != make_delimiter("q", [PASSAGE], repeatable=True)
    assert make_delimiter("other", [PASSAGE], repeatable=True) != make_delimiter("q", [PASSAGE], repeatable=True)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("It is 5 [1].", "It is 5."),
        ([{"type": "text", "text": "It is 5 [1]."}], [{"type": "text", "text": "It is 5."}]),
        (
            ["It is 5 [1].", {"type": "image_url", "image_url": "x[1]"}],
            ["It is 5.", {"type": "image_url", "image_url": "x[1]"}],
        ),
    ],
)
def test_an_answers_markers_are_taken_out_in_whatever_form_it_is_kept(content: Any, shown: Any) -> None:
    history = [HumanMessage("Is [1] a marker?"), AIMessage(content)]
    asked, answered = without_markers(history)
    assert (asked.content, answered.content) == ("Is [1] a marker?", shown)
    assert history[1].content == content
