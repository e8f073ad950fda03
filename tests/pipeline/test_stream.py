"""The chain as a stream of events, and answers that are withdrawn or edited."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from pump_corpus import QUESTIONS, timeless

from rag_app.pipeline import (
    Done,
    Retrieved,
    Stages,
    Verdicts,
    astream_answer,
    build_chain,
    build_stages,
    chain_of,
    stream_answer,
)
from rag_app.settings import Settings
from rag_app.synthesize.events import Token
from rag_app.types import ConfigError, to_json


async def test_the_stream_ends_in_the_answer_that_invoke_gives(settings: Settings, index: Any) -> None:
    stages = build_stages(settings, index)
    for question in QUESTIONS:
        events = list(stream_answer(stages, question))
        assert isinstance(events[0], Retrieved)
        assert isinstance(events[-2], Verdicts)
        done = events[-1]
        assert isinstance(done, Done)
        assert timeless(done.answer) == timeless(chain_of(stages).invoke(question))
        if not done.answer.abstained:
            assert "".join(event.text for event in events if isinstance(event, Token)) == done.answer.text
        later = [event async for event in astream_answer(stages, question)]
        assert [event.type for event in later] == [event.type for event in events]
        assert all(json.dumps(to_json(event)) for event in events)


def test_a_written_answer_below_the_threshold_is_withdrawn_once_it_was_judged(settings: Settings, index: Any) -> None:
    def stages(*sets: str) -> Stages:
        model = FakeListChatModel(responses=["The pump has a warranty of 99 months [1]."])
        wanted = Settings.resolve(None, ["rerank.kind=none", "synthesize.kind=llm", *sets])
        return build_stages(wanted, index, chat_model=model)

    given = chain_of(stages()).invoke(QUESTIONS[1])
    assert not given.abstained
    assert given.confidence is not None
    least = f"synthesize.threshold={given.confidence + 0.01}"
    withdrawn = chain_of(stages(least, "synthesize.abstention_text=Keine Antwort.")).invoke(QUESTIONS[1])
    assert (withdrawn.abstained, withdrawn.abstention_reason) == (True, "below_threshold")
    assert (withdrawn.text, withdrawn.citations, withdrawn.confidence) == ("Keine Antwort.", (), given.confidence)
    events = list(stream_answer(stages(least), QUESTIONS[1]))
    assert [event.reason for event in events if event.type == "retraction"] == ["below_threshold"]
    assert timeless(events[-1].answer)["abstained"]


WRONG = "Pangolins in Tarnfield sing about the pump [1]."

RIGHT = "Replace the filter every 6 months [1]."


@pytest.mark.parametrize(
    ("policy", "said", "text"),
    [
        ("flag", [WRONG, RIGHT], f"{WRONG} {RIGHT}"),
        ("remove", [WRONG, RIGHT], RIGHT),
        ("recite", [RIGHT.replace("[1]", "[2]")], RIGHT),
        ("regenerate", [WRONG, RIGHT, "edit"], RIGHT),
        ("abstain", [WRONG, RIGHT], "Keine Antwort."),
        ("remove", [WRONG], "Keine Antwort."),
    ],
)
async def test_a_policy_edits_the_answer_of_the_chain_and_the_stream_says_so(
    index: Any, policy: str, said: list[str], text: str
) -> None:
    sets = ["rerank.kind=none", "synthesize.kind=llm", "synthesize.abstention_text=Keine Antwort."]
    settings = Settings.resolve(None, [*sets, f"verify.policy={policy}"])
    first = " ".join(part for part in said if part != "edit")

    def stages() -> Stages:
        return build_stages(settings, index, chat_model=FakeListChatModel(responses=[first, RIGHT]))

    question = QUESTIONS[0]
    answer = chain_of(stages()).invoke(question)
    assert answer.text == text
    assert answer.abstained == (text == "Keine Antwort.")
    spoken = answer.report["withdrawn"] if answer.abstained else answer.text
    assert [v.claim.span.slice(spoken) for v in answer.verdicts] == [v.claim.text for v in answer.verdicts] != []
    for events in (
        list(stream_answer(stages(), question)),
        [event async for event in astream_answer(stages(), question)],
    ):
        assert [event.type for event in events[-2:]] == ["verdicts", "done"]
        edits = [event.text for event in events if event.type == "retraction"]
        assert edits == ([] if first == text else [text])
        assert timeless(events[-1].answer) == timeless(answer)
        assert events[-2].verdicts == events[-1].answer.verdicts


async def test_a_stream_of_anything_but_stages_is_told_what_it_wants(settings: Settings, index: Any) -> None:
    chain: Any = build_chain(settings, index)
    with pytest.raises(ConfigError, match=r"stream_answer.* got a Runnable.*build_stages"):
        list(stream_answer(chain, QUESTIONS[0]))
    with pytest.raises(ConfigError, match=r"astream_answer.* got a str"):
        [event async for event in astream_answer("chain", QUESTIONS[0])]  # type: ignore[arg-type]
