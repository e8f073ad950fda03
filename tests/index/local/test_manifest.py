"""What a manifest of another version means for who opens the index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex
from rag_app.types import IndexDamagedError, IndexMismatchError


def test_an_index_of_a_newer_format_asks_for_a_newer_rag_app_first(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    with LocalIndex.create(tmp_path / "index", embedder=embedder) as index:
        index.commit()
    path = tmp_path / "index" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for version, way_out in ((99, "update rag_app, or rebuild"), (0, "this rag_app reads 1; rebuild")):
        path.write_text(json.dumps({**manifest, "format": version}), encoding="utf-8")
        with pytest.raises(IndexMismatchError, match=way_out):
            LocalIndex.open(tmp_path / "index", embedder=embedder)


@pytest.mark.parametrize("raw", [b"", b"null", b"[]", b"{}", b"[" * 100_000, b"\xff\xfe", b'{"format": 1}'])
def test_a_manifest_that_is_none_is_damaged(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(raw)
    with pytest.raises(IndexDamagedError, match=r"manifest\.json"):
        LocalIndex.open(tmp_path)
