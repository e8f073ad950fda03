"""A model's folder read without torch: its shape, and why a model is none of ours."""

from __future__ import annotations

from typing import Any

import pytest

from rag_app.backend import UnsupportedModelError
from rag_app.backend.weights import read_shape

BERT = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "max_position_embeddings": 64}


def test_berts_first_checkpoints_do_not_name_their_epsilon() -> None:
    assert read_shape(BERT).eps == 1e-12
    assert read_shape(BERT | {"layer_norm_eps": 1e-5}).eps == 1e-5


@pytest.mark.parametrize(
    ("family", "more", "window"),
    [("bert", {"pad_token_id": 1}, 64), ("roberta", {}, 62), ("xlm-roberta", {"pad_token_id": 0}, 63)],
)
def test_robertas_positions_count_from_behind_padding(family: str, more: dict[str, Any], window: int) -> None:
    assert read_shape(BERT | more | {"model_type": family}).window == window


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "bert"},
        BERT | {"hidden_size": "wide"},
        BERT | {"hidden_size": None},
        BERT | {"model_type": "deberta-v2"},
        BERT | {"hidden_act": "silu"},
        BERT | {"position_embedding_type": "relative_key"},
        BERT | {"auto_map": {"AutoModel": "code.Model"}},
    ],
)
def test_what_is_not_told_or_not_built_is_left_to_torch(config: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedModelError):
        read_shape(config)
