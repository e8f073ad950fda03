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
from pump_corpus import FILES, QUESTIONS, timeless

from rag_app.answer import Answer
from rag_app.pipeline import (
    Done,
    Stages,
    build_chain,
    build_index,
    build_stages,
    chain_of,
    open_index,
    open_or_create,
    stream_answer,
)
from rag_app.settings import Settings
from rag_app.types import ConfigError, IndexMismatchError, IndexMissingError

GOLDEN = Path(__file__).parent.parent / "golden"


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
