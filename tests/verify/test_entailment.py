"""The entailment level: labels by name, the logic over a scripted scorer, the wiring over a random model."""

from __future__ import annotations

import json

import pytest

from rag_app.types import ConfigError
from rag_app.verify import Verifier
from rag_app.verify.entailment import _label_places, cross_encoder_scorer, load_cross_encoder

SOURCE = "The ferry to Skerry Island leaves twice a day and takes bicycles. It sails from Harwick pier."
CLAIM = "The Skerry ferry departs two times daily."


def verifier(*scores: tuple[float, float], **settings) -> Verifier:
    def scorer(pairs):
        return [scores[min(i, len(scores) - 1)] for i in range(len(pairs))]

    return Verifier(level="entailment", scorer=scorer, cascade=False, **settings)


def test_support_is_the_greatest_entailment_over_the_windows() -> None:
    verdict = verifier((0.1, 0.0), (0.9, 0.0)).verify_claim("The ferry sails and takes bicycles daily.", [SOURCE])
    assert (verdict.label, verdict.level, verdict.score) == ("supported", "entailment", 0.9)
    assert verdict.evidence[0].text in SOURCE


def test_a_contradiction_about_the_claim_counts() -> None:
    verdict = verifier((0.1, 0.9)).verify_claim("The ferry to Skerry Island takes horses.", [SOURCE])
    assert verdict.label == "contradicted"


def test_a_contradiction_from_a_window_about_something_else_does_not_count() -> None:
    verdict = verifier((0.1, 0.9)).verify_claim("Pangolins near Harwick eat leafcutter ants.", [SOURCE])
    assert verdict.label == "not_found"


def test_a_pronoun_is_scored_alone_and_behind_the_sentence_that_it_stands_for() -> None:
    asked = []

    def scorer(pairs):
        asked.extend(hypothesis for _, hypothesis in pairs)
        return [(0.9 if hypothesis.startswith("The ferry") else 0.1, 0.8) for _, hypothesis in pairs]

    model = Verifier(level="entailment", scorer=scorer, cascade=False)
    report = model.invoke({"text": "The ferry sails twice a day. It takes bicycles.", "documents": [SOURCE]})
    assert {"It takes bicycles.", "The ferry sails twice a day. It takes bicycles."} <= set(asked)
    assert report.verdicts[1].label == "supported"


def test_a_failed_number_check_outranks_entailment() -> None:
    source = "The ferry to Skerry Island takes 40 bicycles."
    verdict = verifier((0.99, 0.0)).verify_claim("The ferry to Skerry Island takes 25 bicycles.", [source])
    assert verdict.label == "contradicted"
    assert "outranks" in (verdict.reason or "")


@pytest.mark.parametrize("scores", [(float("nan"), 0.0)])
def test_scores_that_are_no_numbers_give_not_checkable(scores: tuple[float, float]) -> None:
    assert verifier(scores).verify_claim(CLAIM, [SOURCE]).label == "not_checkable"


def test_a_model_that_fails_gives_not_checkable_with_the_reason() -> None:
    def broken(pairs):
        raise TimeoutError("too slow")

    verdict = Verifier(level="entailment", scorer=broken, cascade=False).verify_claim(CLAIM, [SOURCE])
    assert verdict.label == "not_checkable"
    assert "too slow" in (verdict.reason or "")


def test_the_cascade_asks_the_model_only_when_the_lexical_level_is_not_sure() -> None:
    asked = []

    def scorer(pairs):
        asked.extend(pairs)
        return [(0.9, 0.0)] * len(pairs)

    cascade = Verifier(level="entailment", scorer=scorer)
    assert cascade.verify_claim("The ferry to Skerry Island leaves twice a day.", [SOURCE]).level == "lexical"
    assert not asked
    assert cascade.verify_claim(CLAIM, [SOURCE]).level == "entailment"
    assert asked


def test_the_place_of_each_label_is_read_from_the_model() -> None:
    assert _label_places({0: "contradiction", 1: "entailment", 2: "neutral"}) == (1, 0)
    assert _label_places({0: "entailment", 1: "neutral", 2: "contradiction"}) == (0, 2)
    assert _label_places({0: "not_entailment", 1: "entailment"}) == (1, None)
    assert _label_places({0: "label_0", 1: "label_1"}) == (1, None)
    assert _label_places({0: "consistent"}) == (0, None)
    with pytest.raises(ConfigError, match="entailment"):
        _label_places({0: "good", 1: "bad", 2: "ugly"})


def test_without_a_model_the_setting_is_named() -> None:
    with pytest.raises(ConfigError, match="entailment_model"):
        Verifier(level="entailment").verify_claim(CLAIM, [SOURCE])


@pytest.mark.model
def test_a_cross_encoder_of_any_label_order_is_wired_through(tmp_path) -> None:
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "ferry", "leaves", "twice", "a", "day", "."]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}, max_position_embeddings=64,
        label2id={"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["id2label"]["2"] == "ENTAILMENT"
    model = Verifier(level="entailment", entailment_model=str(tmp_path), cascade=False)
    verdict = model.verify_claim("The ferry leaves daily.", [SOURCE])
    assert verdict.level == "entailment"
    assert 0 < verdict.score < 1


@pytest.mark.model
@pytest.mark.parametrize(
    ("names", "entails", "denies"),
    [
        (["NEUTRAL", "ENTAILMENT", "CONTRADICTION"], 1, 2),
        (["ENTAILMENT", "CONTRADICTION", "NEUTRAL"], 0, 1),
        (["LABEL_0", "LABEL_1"], 1, None),
        (["entailment", "not_entailment"], 0, None),
        (["consistent"], 0, None),
    ],
)
def test_the_scores_are_those_of_the_model_in_any_order_of_labels_and_batches(tmp_path, names, entails, denies) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig, BertTokenizerFast
    from transformers import BertForSequenceClassification as Bert

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "ferry", "leaves", "twice", "a", "day", "."]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        id2label=dict(enumerate(names)), label2id={name: n for n, name in enumerate(names)}, initializer_range=2.0,
        max_position_embeddings=64,
    )  # fmt: skip
    Bert(config).save_pretrained(tmp_path)
    pairs = [("the ferry " * count, "a day leaves .") for count in (1, 9, 3, 14, 2)]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    wanted = []
    for premise, hypothesis in pairs:
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0].detach()
        shares = torch.sigmoid(logits) if len(names) == 1 else torch.softmax(logits, dim=-1)
        wanted.append((float(shares[entails]), float(shares[denies]) if denies is not None else 0.0))
    found = cross_encoder_scorer(load_cross_encoder(str(tmp_path)), batch_size=2)(pairs)
    assert [pytest.approx(pair, abs=1e-5) for pair in wanted] == found
    assert len({round(pair[0], 4) for pair in found}) > 1


def test_a_source_that_shares_no_word_is_read_from_its_start_and_only_for_a_foreign_claim() -> None:
    asked = []

    def scorer(pairs):
        asked.extend(pairs)
        return [(0.9, 0.0)] * len(pairs)

    model = Verifier(level="entailment", scorer=scorer)
    german = "Satz eins ist nicht lang. Satz zwei ist auch nicht lang. Satz drei ist lang. Satz vier ist lang."
    assert model.verify_claim("The bridge is beautiful and it was built by us.", [german]).label == "supported"
    assert [premise for premise, _ in asked] == [german[: german.index(" Satz vier")], "Satz vier ist lang."]
    asked.clear()
    assert model.verify_claim("Pangolins sleep.", ["Bridges are built of steel."]).label == "not_found"
    assert asked == []


@pytest.mark.parametrize("scores", [None, "ab", [], [(1,)] * 2, [(2.0, 0.0)] * 2, [(0.9, -1.0)] * 2, [None, None]])
def test_scores_that_are_no_shares_decide_nothing(scores: object) -> None:
    judge = Verifier(level="entailment", scorer=lambda pairs: scores, cascade=False)
    verdict = judge.verify_claim(CLAIM, [SOURCE])
    assert (verdict.label, verdict.score) == ("not_checkable", 0.0)
