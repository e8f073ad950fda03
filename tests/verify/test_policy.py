"""Policies: what becomes of an answer with unsupported claims."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from rag_app.answer import ABSTENTION
from rag_app.types import UnsupportedClaimsError
from rag_app.verify import Verifier

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
    assert report.actions == ("removed: 1 claim",)
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


WRONG = "The ferry to Skerry Island leaves twice a day [2]."


@pytest.mark.parametrize("policy", ["remove", "abstain", "regenerate"])
def test_every_policy_that_acts_cites_a_right_fact_anew_before_anything_else(policy: str) -> None:
    report = run(WRONG, policy, chat_model=FakeListChatModel(responses=["I don't know."]))
    assert (report.text, report.actions) == (GOOD, ("recited: 1 claim",))


def test_an_uncited_claim_gets_a_marker_from_recite_alone() -> None:
    uncited = GOOD.replace(" [1]", "")
    assert run(f"{uncited} {BAD}", "remove").text == uncited
    assert run(f"{uncited} {BAD}", "recite").text == f"{GOOD} {BAD}"


@pytest.mark.parametrize("policy", ["remove", "abstain", "regenerate"])
def test_an_abstention_says_what_it_took_the_place_of_and_why(policy: str) -> None:
    report = run(BAD, policy, chat_model=FakeListChatModel(responses=["I don't have enough information."]))
    assert (report.text, report.withdrawn, report.abstained) == (ABSTENTION, BAD, True)
    assert report.actions[-1] == "abstained"
    assert [v.claim.span.slice(BAD) for v in report.verdicts] == [v.claim.text for v in report.verdicts] != []
    assert report.groundedness == 0.0
    assert report.summary()["withdrawn"] == BAD


def test_an_edit_that_gives_up_a_supported_claim_is_no_reason_to_abstain() -> None:
    report = run(f"{GOOD} {BAD}", "regenerate", chat_model=FakeListChatModel(responses=["I don't know."]))
    assert report.text == f"{GOOD} {BAD}"


def test_there_are_two_rounds_at_most() -> None:
    others = ["Cats own Tarnfield [1].", "Dogs sing in Paris [2]."]
    edits = [f"{GOOD} {BAD} {others[0]}", f"{GOOD} {BAD}", GOOD]
    report = run(" ".join([GOOD, BAD, *others]), "regenerate", chat_model=FakeListChatModel(responses=edits))
    assert report.text == edits[1]
    assert report.actions == ("regenerated: round 1", "regenerated: round 2")


@pytest.mark.parametrize("edit", [f"```\n{GOOD}\n```", f"<answer>{GOOD}</answer>"])
def test_the_wrapping_of_an_edit_is_taken_off(edit: str) -> None:
    assert run(f"{GOOD} {BAD}", "regenerate", chat_model=FakeListChatModel(responses=[edit])).text == GOOD


def test_the_guard_does_not_raise_over_what_was_withdrawn() -> None:
    assert run(BAD, "abstain", on_unsupported="raise").text == ABSTENTION
    with pytest.raises(UnsupportedClaimsError):
        run(BAD, "flag", on_unsupported="raise")


def test_what_a_policy_removes_stands_in_the_review_file(tmp_path) -> None:
    run(f"{GOOD} {BAD}", "remove", review_file=str(tmp_path / "review.jsonl"))
    (line,) = (tmp_path / "review.jsonl").read_text().splitlines()
    assert "Pangolins" in line


@pytest.mark.parametrize("middle", [" Cats rule the moon. [1] ", " Cats rule the moon [1]. "])
def test_sentences_around_a_removed_one_stay_apart(middle: str) -> None:
    found = run(f"{GOOD}{middle}{GOOD}", "remove")
    assert found.text == f"{GOOD} {GOOD}"
