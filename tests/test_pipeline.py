"""The whole chain on small documents: one answer however it is asked for, and a golden trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from openai_server import ChatServer, Step

from rag_app.answer import Answer
from rag_app.pipeline import (
    Done,
    Retrieved,
    Stages,
    Verdicts,
    astream_answer,
    build_chain,
    build_index,
    build_stages,
    chain_of,
    open_index,
    open_or_create,
    stream_answer,
)
from rag_app.settings import Settings
from rag_app.synthesize.events import Token
from rag_app.types import ConfigError, IndexMismatchError, IndexMissingError, to_json

GOLDEN = Path(__file__).parent / "golden"
FILES = {
    "pump.md": "# Pump P-7\n\n## Filter\n\nReplace the filter every 6 months. Use part AB-123 only.\n\n"
    "## Warranty\n\nThe pump has a warranty of 24 months from the date of purchase.\n",
    "memo.txt": "The warranty of the pump was raised to 36 months in March 2025.\n\nLunch is at noon.\n",
    "news.txt": "The city council met on Tuesday. Nothing was decided about the new bridge.\n",
}
QUESTIONS = ["How often should the filter be replaced?", "What is the warranty of the pump?", "Who wrote Hamlet?"]


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings.resolve(None, ["embed.kind=hashing", "rerank.kind=none"])


@pytest.fixture(scope="module")
def index(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("pipeline")
    docs = folder / "docs"
    docs.mkdir()
    for name, text in FILES.items():
        (docs / name).write_text(text, encoding="utf-8")
    built, report = build_index(settings, [docs], folder / "index")
    assert (report.documents, report.failed) == (3, ())
    return built


def timeless(answer: Answer) -> dict[str, Any]:
    """The answer without its clocks."""
    tree = to_json(answer)
    tree["timings"] = tree["trace"]["timings"] = tree["report"] = {}
    for verdict in tree["verdicts"]:
        verdict["seconds"] = 0.0
    return dict(tree)


async def test_invoke_batch_and_their_async_twins_agree(settings: Settings, index: Any) -> None:
    chain = build_chain(settings, index)
    one_by_one = [timeless(chain.invoke(question)) for question in QUESTIONS]
    assert [timeless(answer) for answer in chain.batch(QUESTIONS)] == one_by_one
    assert [timeless(await chain.ainvoke(question)) for question in QUESTIONS] == one_by_one
    assert [timeless(answer) for answer in await chain.abatch(QUESTIONS)] == one_by_one


def test_every_citation_is_the_documents_text_at_its_span(settings: Settings, index: Any) -> None:
    answer = build_chain(settings, index).invoke(QUESTIONS[0])
    assert not answer.abstained
    assert answer.citations
    for citation in answer.citations:
        document = index.document(citation.chunk_id.rsplit(":", 1)[0])
        assert document.page_content[citation.span.start : citation.span.end] == citation.quote
        assert citation.source in FILES
    for verdict in answer.verdicts:
        assert answer.text[verdict.claim.span.start : verdict.claim.span.end] == verdict.claim.text


def test_an_answer_survives_json_whole(settings: Settings, index: Any) -> None:
    answer = build_chain(settings, index).invoke(QUESTIONS[1])
    again = Answer.from_json(answer.to_json())
    assert again == answer
    assert again.to_json() == answer.to_json()


def test_a_question_without_evidence_is_an_abstained_answer(settings: Settings, index: Any) -> None:
    answer = build_chain(settings, index).invoke(QUESTIONS[2])
    assert answer.abstained
    assert answer.abstention_reason in ("no_candidates", "below_threshold")
    assert not answer.citations


def test_a_filter_that_nothing_passes_is_named_as_the_reason(settings: Settings, index: Any) -> None:
    answer = build_chain(settings, index).invoke({"question": QUESTIONS[0], "filter": {"source": "nowhere.md"}})
    assert answer.abstention_reason == "filter_matched_nothing"


def test_a_filter_restricts_the_evidence(settings: Settings, index: Any) -> None:
    answer = build_chain(settings, index).invoke({"question": QUESTIONS[1], "filter": {"source": "memo.txt"}})
    assert {passage.source for passage in answer.evidence} == {"memo.txt"}


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


def test_the_stages_leave_the_indexs_documents_as_they_were(settings: Settings, index: Any) -> None:
    before = [document.model_dump() for document in index.get(index.chunk_ids())]
    build_chain(settings, index).batch(QUESTIONS)
    assert [document.model_dump() for document in index.get(index.chunk_ids())] == before


class Foreign(BaseRetriever):
    """Somebody else's retriever: plain documents without ids, scores or offsets."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("The warranty of the pump is 12 months.", metadata={"source": "theirs.txt"})]


async def test_a_foreign_retriever_fits_wherever_ours_does(settings: Settings, index: Any) -> None:
    own = build_stages(settings, index)
    stages = Stages(Foreign(), own.reranker, own.expander, own.synthesizer, own.verifier)
    answer = chain_of(stages).invoke(QUESTIONS[1])
    assert [citation.quote for citation in answer.citations] == ["The warranty of the pump is 12 months."]
    assert timeless(await chain_of(stages).ainvoke(QUESTIONS[1])) == timeless(answer)


class Twins(BaseRetriever):
    """The same passage of the same source, twice."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("The warranty of the pump is 12 months.", id=i, metadata={"source": "a"}) for i in "xy"]


@pytest.mark.parametrize("kind", ["extractive", "llm"])
def test_what_the_packing_left_out_is_in_the_answers_trace(settings: Settings, index: Any, kind: str) -> None:
    model = FakeListChatModel(responses=["The warranty is 12 months [1]."])
    own = build_stages(Settings.resolve(None, ["rerank.kind=none", f"synthesize.kind={kind}"]), index, chat_model=model)
    stages = Stages(Twins(), own.reranker, own.expander, own.synthesizer, own.verifier)
    answers = [chain_of(stages).invoke(QUESTIONS[1])]
    answers += [event.answer for event in stream_answer(stages, QUESTIONS[1]) if isinstance(event, Done)]
    for answer in answers:
        assert [passage.chunk_id for passage in answer.evidence] == ["x"]
        assert str(answer.trace.explain("y").removed).count("duplicate") == 1
        assert Answer.from_json(answer.to_json()) == answer


@pytest.mark.parametrize("question", ["", "  ", 3, {"question": ""}, {"question": "a", "fitler": {}}])
def test_no_question_is_a_clear_error(settings: Settings, index: Any, question: Any) -> None:
    with pytest.raises(ConfigError):
        build_chain(settings, index).invoke(question)


def test_an_index_is_missing_or_of_another_embedder_in_so_many_words(
    settings: Settings, index: Any, tmp_path: Path
) -> None:
    with pytest.raises(IndexMissingError, match="rag-app index"):
        open_index(settings, tmp_path / "nothing")
    other = Settings.resolve(None, ["embed.kind=hashing", "embed.dimensions=32"])
    with pytest.raises(IndexMismatchError, match="re"):
        open_index(other, index.path)


def test_the_golden_traces_stay_as_they_were(settings: Settings, index: Any, request: pytest.FixtureRequest) -> None:
    chain = build_chain(settings, index)
    made = {question: timeless(chain.invoke(question)) for question in QUESTIONS}
    file = GOLDEN / "answers.json"
    if request.config.getoption("--remake-golden"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    expected = json.loads(file.read_text(encoding="utf-8"))
    for question in QUESTIONS:
        assert rounded(made[question]) == rounded(expected[question])


def rounded(value: Any) -> Any:
    """Floats to six digits: the last ones differ between processors."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def test_the_model_of_the_answers_serves_every_stage_that_asks_one(index: Any) -> None:
    step = Step(
        lambda body: '{"scores": [{"id": 1, "score": 5}]}' if "grade passages" in str(body) else "24 months [1]."
    )
    with ChatServer([step]) as server:
        sets = ["embed.kind=hashing", "rerank.kind=llm", "synthesize.kind=llm", "synthesize.model=fake"]
        chosen = Settings.resolve(None, [*sets, f"synthesize.base_url={server.base_url}"])
        stages = build_stages(chosen, index)
        answer = chain_of(stages).invoke(QUESTIONS[1])
    assert stages.reranker.chat_model is stages.synthesizer.language_model() is stages.verifier.chat_model
    assert len(answer.evidence) == 1
    assert not any("the order was kept" in warning for warning in answer.warnings)


def test_a_model_that_cannot_be_made_is_told_before_the_first_question(index: Any) -> None:
    with pytest.raises(ConfigError, match=r"synthesize\.model"):
        build_chain(Settings.resolve(None, ["embed.kind=hashing", "synthesize.kind=llm"]), index)


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


def test_arguments_in_the_wrong_order_are_told_in_one_sentence(tmp_path: Path) -> None:
    settings, folder = Settings.resolve(None, ["embed.kind=hashing"]), str(tmp_path / "index")
    index = open_or_create(settings, folder)
    for call in (
        lambda: open_index(folder, settings),  # type: ignore[arg-type]
        lambda: open_or_create(folder, settings),  # type: ignore[arg-type]
        lambda: build_index(folder, [folder], settings),  # type: ignore[arg-type]
        lambda: build_chain(index, settings),  # type: ignore[arg-type]
        lambda: build_stages(folder, index),  # type: ignore[arg-type]
    ):
        with pytest.raises(ConfigError, match=r"expected Settings, found a (str|LocalIndex); settings come first"):
            call()
    with pytest.raises(ConfigError, match="expected an open index, found a str; open_index opens it"):
        build_chain(settings, folder)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="expected the folder of an index, found a list"):
        build_index(settings, folder, [folder])  # type: ignore[arg-type]


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
