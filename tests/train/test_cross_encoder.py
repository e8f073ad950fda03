"""A trained model on the disk."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from rag_app.train.cross_encoder import save


class Saved:
    """Writes one file into the folder, as `save_pretrained` does: in place."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.content = name, content

    def save_pretrained(self, folder: Any) -> None:
        (Path(folder) / self.name).write_bytes(self.content)


def test_who_reads_the_old_weights_keeps_them_when_a_model_is_trained_again(tmp_path: Path) -> None:
    """Weights are mapped while a model is in use; a file that is cut under a mapping ends the process."""
    place = tmp_path / "model"
    save(Saved("model.safetensors", b"old weights"), Saved("tokenizer.json", b"{}"), place)
    with (place / "model.safetensors").open("rb") as in_use:
        save(Saved("model.safetensors", b"new"), Saved("tokenizer.json", b"{}"), place)
        assert in_use.read() == b"old weights"
    assert {file.name: file.read_bytes() for file in place.iterdir()} == {
        "model.safetensors": b"new",
        "tokenizer.json": b"{}",
    }


@pytest.mark.parametrize("nested", ["a", "a/b/c"])
def test_folders_on_the_way_are_made(nested: str, tmp_path: Path) -> None:
    save(Saved("model.safetensors", b"w"), Saved("tokenizer.json", b"{}"), tmp_path / nested)
    assert (tmp_path / nested / "model.safetensors").is_file()
    shutil.rmtree(tmp_path / nested)
