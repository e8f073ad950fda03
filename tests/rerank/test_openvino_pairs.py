"""A cross-encoder in OpenVINO gives what torch gives: each family, pairs above the window, without importing torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document

from rag_app.backend import UnsupportedModelError
from rag_app.rerank import CrossEncoderReranker
from rag_app.rerank.openvino_pairs import model_folder
from rag_app.rerank.pairs import CANARIES, TorchPairs, load_cross_encoder, load_pairs
from rag_app.types import ModelError

pytest.importorskip("openvino", reason="OpenVINO is not installed (extra `fast`)")
pytest.importorskip("sentence_transformers")

WORDS = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "pump",
    "cats",
    "sleep",
    "reset",
    "the",
    "valve",
    "a",
    "notice",
    "model",
    "is",
]
PAIRS = [
    *CANARIES,
    ("reset the pump " * 30, "a valve " * 90),
    ("pump", "cats sleep " * 70),
    ("the " * 99, "a"),
    ("", ""),
]
FAMILIES = ("bert", "roberta", "xlm-roberta", "electra", "distilbert")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A tiny cross-encoder with random weights, of any family."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerFast

    made: dict[tuple[Any, ...], Path] = {}

    def make(family: str = "bert", labels: int = 1, **fields: Any) -> Path:
        key = (family, labels, *sorted(fields.items()))
        if key in made:
            return made[key]
        path = tmp_path_factory.mktemp(family)
        torch.manual_seed(7)
        small: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
        small |= {"intermediate_size": 48, "vocab_size": len(WORDS), "num_labels": labels, "initializer_range": 0.6}
        roberta = "roberta" in family
        small |= {"max_position_embeddings": 66 if roberta else 64, "type_vocab_size": 1 if roberta else 2}
        small |= {"embedding_size": 16} if family == "electra" else {}
        small = small if family != "distilbert" else {"vocab_size": len(WORDS), "dim": 32, "n_heads": 4, "n_layers": 1}
        config = AutoConfig.for_model(family, pad_token_id=1, **(small | fields))
        AutoModelForSequenceClassification.from_config(config).save_pretrained(path)
        tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        inputs = ["input_ids", "attention_mask"] if roberta else ["input_ids", "token_type_ids", "attention_mask"]
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, pad_token="<pad>", model_max_length=64, model_input_names=inputs
        ).save_pretrained(path)
        made[key] = path
        return path

    return make


@pytest.mark.parametrize("family", FAMILIES[:-1])
@pytest.mark.parametrize("labels", [1, 3])
def test_every_family_gives_torchs_logits(family: str, labels: int, model: Any, tmp_path: Path) -> None:
    path = model(family, labels)
    theirs = TorchPairs(load_cross_encoder(str(path), device="cpu"))
    ours = load_pairs(str(path), backend="openvino", dtype="float32", cache_dir=str(tmp_path))
    assert (ours.labels, ours.window) == (theirs.labels, theirs.window)
    assert ours.count_tokens("the pump sleeps") == theirs.count_tokens("the pump sleeps") == 3
    expected = theirs.logits(PAIRS, batch_size=4)
    assert np.ptp(expected) > 0.5
    assert ours.logits(PAIRS, batch_size=4) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("activation", ["gelu_new", "relu"])
def test_other_activations_are_built_too(activation: str, model: Any, tmp_path: Path) -> None:
    path = model("bert", hidden_act=activation)
    ours = load_pairs(str(path), backend="openvino", dtype="float32", cache_dir=str(tmp_path))
    expected = TorchPairs(load_cross_encoder(str(path), device="cpu")).logits(PAIRS, batch_size=4)
    assert ours.logits(PAIRS, batch_size=4) == pytest.approx(expected, abs=1e-3)


def test_what_cannot_be_built_is_torchs_unless_openvino_is_asked_for(model: Any, tmp_path: Path) -> None:
    path = str(model("distilbert"))
    assert load_pairs(path, cache_dir=str(tmp_path)).backend.startswith("torch")
    with pytest.raises(UnsupportedModelError, match="distilbert"):
        load_pairs(path, backend="openvino", cache_dir=str(tmp_path))
    with pytest.raises(UnsupportedModelError, match="silu"):
        load_pairs(str(model("bert", hidden_act="silu")), backend="openvino", cache_dir=str(tmp_path))
    with pytest.raises(ModelError, match="no/such-model"):
        load_pairs("no/such-model", backend="openvino", cache_dir=str(tmp_path))


def test_a_backend_by_name_is_the_one_that_computes(model: Any, tmp_path: Path) -> None:
    path = str(model("bert"))
    named = {b: CrossEncoderReranker(model=path, backend=b, cache_dir=str(tmp_path)) for b in ("torch", "openvino")}
    assert str(named["torch"].computed_by).startswith("torch, ")
    assert str(named["openvino"].computed_by).startswith("OpenVINO ")
    documents = [Document(id=str(i), page_content=text) for i, text in enumerate(("reset the pump", "cats sleep", "a"))]
    scores = [reranker.score("the pump", documents).relevance for reranker in named.values()]
    assert scores[0] == pytest.approx(scores[1], abs=0.02)


def test_half_precision_weights_are_read(model: Any, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification

    path = model("bert")
    for dtype in (torch.float16, torch.bfloat16):
        small = tmp_path / str(dtype)
        small.mkdir()
        for file in path.glob("*.json"):
            (small / file.name).write_bytes(file.read_bytes())
        AutoModelForSequenceClassification.from_pretrained(path, dtype=dtype).save_pretrained(small)
        ours = load_pairs(str(small), backend="openvino", dtype="float32", cache_dir=str(tmp_path / "kept"))
        expected = TorchPairs(load_cross_encoder(str(small), device="cpu")).logits(PAIRS, batch_size=4)
        assert ours.logits(PAIRS, batch_size=4) == pytest.approx(expected, abs=1e-3)


def test_a_folder_that_is_damaged_is_an_error_and_not_a_bad_score(model: Any, tmp_path: Path) -> None:
    path = model("bert")
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in path.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    raw = (broken / "model.safetensors").read_bytes()
    (broken / "model.safetensors").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ModelError, match="cannot be read"):
        load_pairs(str(broken), backend="openvino", cache_dir=str(tmp_path))
    (broken / "model.safetensors").write_bytes(raw)
    (broken / "config.json").write_text("[]")
    with pytest.raises(ModelError, match=r"config\.json"):
        load_pairs(str(broken), backend="openvino", cache_dir=str(tmp_path))


def test_scores_that_do_not_agree_with_torchs_are_refused(model: Any, tmp_path: Path) -> None:
    """The canaries' scores on the disk are another model's: what is compiled does not give them."""
    path = model("bert")
    load_pairs(str(path), backend="openvino", cache_dir=str(tmp_path))
    (kept,) = tmp_path.glob("canaries-*.npy")
    from rag_app.backend.kept import _replace, checksummed

    _replace(kept, checksummed(-TorchPairs(load_cross_encoder(str(path))).logits(CANARIES, batch_size=16)))
    with pytest.raises(ModelError, match="does not give what torch gives"):
        load_pairs(str(path), backend="openvino", cache_dir=str(tmp_path))
    other = load_pairs(str(path), cache_dir=str(tmp_path))
    assert other.backend.startswith("torch")
    assert "OpenVINO does not give what torch gives" in other.note


def test_a_model_of_the_hub_is_found_in_its_cache(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub").constants
    place = tmp_path / "models--org--tiny"
    snapshot = place / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("abc")
    for file in model("bert").iterdir():
        (snapshot / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert model_folder("org/tiny") == snapshot
    assert load_pairs("org/tiny", backend="openvino", cache_dir=str(tmp_path)).backend.startswith("OpenVINO ")
    assert model_folder("org/other") is None


def test_torch_is_not_imported_once_its_scores_are_kept(model: Any, tmp_path: Path) -> None:
    path = str(model("bert"))
    load_pairs(path, backend="openvino", cache_dir=str(tmp_path))
    program = (
        "import json, sys\n"
        "from langchain_core.documents import Document\n"
        "from rag_app.rerank import CrossEncoderReranker\n"
        f"reranker = CrossEncoderReranker(model={path!r}, cache_dir={str(tmp_path)!r}, threshold=None)\n"
        "found = reranker.compress_documents([Document('reset the pump'), Document('cats sleep ' * 90)], 'the pump')\n"
        "heavy = [name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules]\n"
        "print(json.dumps([heavy, len(found)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], 2]
