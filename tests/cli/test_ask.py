"""`rag-app ask` on a terminal: what was streamed and no longer stands is replaced."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage

from rag_app.cli.ask import show_stream
from rag_app.pipeline import Stages, build_index, build_stages
from rag_app.settings import Settings
from rag_app.types import ModelError


def stages_with(model: Any, folder: Path, *sets: str) -> Stages:
    (folder / "pump.txt").write_text("The warranty of the pump is 24 months.\n\nThe filter is changed every June.\n")
    settings = Settings.resolve(None, ["embed.kind=hashing", "rerank.kind=none", "synthesize.kind=llm", *sets])
    index, _ = build_index(settings, [folder / "pump.txt"], folder / "index")
    return build_stages(settings, index, chat_model=model)


def test_citations_that_were_added_are_shown(tmp_path: Path, capsys: Any) -> None:
    stages = stages_with(FakeListChatModel(responses=["The warranty is 24 months."]), tmp_path)
    answer = show_stream(stages, {"question": "How long is the warranty?"})
    out = capsys.readouterr().out
    assert answer.text == "The warranty is 24 months [1]."
    assert out.startswith("The warranty is 24 months.\nreplaced: citations were added\n")
    assert "  The warranty is 24 months [1]." in out


def test_a_text_that_stands_is_shown_once(tmp_path: Path, capsys: Any) -> None:
    stages = stages_with(FakeListChatModel(responses=["The warranty is 24 months [1]."]), tmp_path)
    show_stream(stages, {"question": "How long is the warranty?"})
    out = capsys.readouterr().out
    assert out.count("The warranty is 24 months [1].") == 1
    assert "replaced" not in out


def test_an_answer_that_the_policy_takes_back_does_not_stay_on_the_screen(tmp_path: Path, capsys: Any) -> None:
    model = FakeListChatModel(responses=["The warranty is 99 years [1]."])
    stages = stages_with(model, tmp_path, "verify.policy=remove")
    answer = show_stream(stages, {"question": "How long is the warranty?"})
    after = capsys.readouterr().out.partition("replaced:")[2]
    told, _, withdrawn = after.partition("\n")[2].partition("what was withdrawn:")
    assert answer.text in told
    assert "99 years" not in told
    assert withdrawn.split()[:1] == ["contradicted"]


def test_a_stream_that_dies_withdraws_what_was_shown(tmp_path: Path, capsys: Any) -> None:
    class Dying(GenericFakeChatModel):
        def _stream(self, *args: Any, **more: Any) -> Iterator[Any]:
            yield from itertools.islice(super()._stream(*args, **more), 4)
            raise ConnectionError("gone")

    stages = stages_with(Dying(messages=iter([AIMessage("The warranty is long.")])), tmp_path)
    with pytest.raises(ModelError, match="connection"):
        show_stream(stages, {"question": "How long is the warranty?"})
    assert "withdrawn: the connection to the model broke" in capsys.readouterr().out
