"""Policies: what becomes of an answer with unsupported claims."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from rag_app.verify import Verifier
from rag_app.verify.policy import ABSTENTION

FERRY = Document("The ferry to Skerry Island leaves twice a day and takes bicycles.", metadata={"source": "f"})
BRIDGE = Document("The suspension bridge at Karrow spans 2.5 kilometers between its towers.", metadata={"source": "b"})
GOOD = "The ferry to Skerry Island leaves twice a day [1]."
BAD = "Pangolins invented the moon in Tarnfield [2]."


def run(text: str, policy: str, **more):
    return Verifier(policy=policy, **more).invoke({"text": text, "documents": [FERRY, BRIDGE], "question": "?"})


def test_flag_leaves_the_text_untouched() -> None:
    assert run(f"{GOOD} {BAD}", "flag").text == f"{GOOD} {BAD}"


@pytest.mark.parametrize("text", [f"{GOOD} {BAD}", f"{BAD} {GOOD}"])
def test_remove_drops_the_whole_sentence_and_no_other(text: str) -> None:
    report = run(text, "remove")
    assert report.text == GOOD
    assert report.actions == ("removed: 1 claims",)
    assert report.groundedness == 1.0


def test_remove_drops_a_list_item_with_its_bullet() -> None:
    assert run(f"- {GOOD}\n- {BAD}", "remove").text == f"- {GOOD}"


def test_recite_exchanges_a_wrong_marker_and_no_word() -> None:
    report = run("The ferry to Skerry Island leaves twice a day [2].", "recite")
    assert report.text == GOOD
    assert report.citation_recall == 1.0


def test_recite_adds_a_marker_to_an_uncited_claim() -> None:
    assert run("The ferry to Skerry Island leaves twice a day.", "recite").text == GOOD


def test_recite_gives_an_item_that_its_lead_in_cites_wrongly_a_marker_of_its_own() -> None:
    text = "About Skerry Island [2]:\n- The ferry to Skerry Island leaves twice a day."
    assert run(text, "recite").text.endswith("- The ferry to Skerry Island leaves twice a day [1].")


def test_nothing_factual_left_means_abstaining() -> None:
    report = run(BAD, "remove")
    assert (report.text, report.abstained) == (ABSTENTION, True)


def test_abstain_replaces_an_answer_with_an_unsupported_claim() -> None:
    assert run(f"{GOOD} {BAD}", "abstain").text == ABSTENTION
    assert run(GOOD, "abstain").text == GOOD


def test_regenerate_takes_an_edit_that_is_better() -> None:
    report = run(f"{GOOD} {BAD}", "regenerate", chat_model=FakeListChatModel(responses=[GOOD]))
    assert report.text == GOOD
    assert report.actions == ("regenerated: round 1",)


def test_regenerate_refuses_an_edit_that_loses_a_supported_claim() -> None:
    other = "The suspension bridge at Karrow spans 2.5 kilometers between its towers [2]."
    report = run(f"{GOOD} {BAD}", "regenerate", chat_model=FakeListChatModel(responses=[other]))
    assert report.text == f"{GOOD} {BAD}"
    assert "was not taken" in report.warnings[0]


def test_regenerate_without_a_model_says_so() -> None:
    assert "needs a chat model" in run(BAD, "regenerate").warnings[0]
