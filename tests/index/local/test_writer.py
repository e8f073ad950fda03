"""Writing where it cannot be done: a full disk, a folder that is read-only."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex
from rag_app.types import ConfigError

Pair = Callable[..., Any]


def test_a_full_disk_leaves_the_last_commit(tmp_path: Path, pair: Pair) -> None:
    with LocalIndex.create(tmp_path / "i", embedder=HashingEmbedder(dimensions=8)) as index:
        index.add([pair("a.txt", ["the pump", "a filter"])])
    # A limit on the size of files fails as a full disk does, in the middle of a write.
    program = """
import resource, signal, sys
from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex
from rag_app.types import LoadedDocument
from langchain_core.documents import Document

index = LocalIndex.open(sys.argv[1], embedder=HashingEmbedder(dimensions=8))
for limit in (100, 1000, 3000, 20000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        text = "valve steel water " * 50
        chunks = [Document(id=f"n{i}", page_content=text) for i in range(200)]
        index.upsert(LoadedDocument(id="n", page_content=text, metadata={"source": "n"}), chunks)
        index.commit()
    except OSError:
        index.close()
    else:
        sys.exit("the commit came through")
    assert len(index) == 2 and len(LocalIndex.open(sys.argv[1])) == 2, limit
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
index.upsert(LoadedDocument(id="n", page_content="room again"), [Document(id="n1", page_content="room again")])
index.commit()
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "i")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = LocalIndex.open(tmp_path / "i", embedder=HashingEmbedder(dimensions=8))
    assert after.verify() == []
    assert len(after.bm25("pump filter room", k=9)) == 3


def test_a_read_only_folder_can_be_searched_and_says_that_it_cannot_be_written(pair: Pair) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with LocalIndex.create(folder / "i", embedder=HashingEmbedder(dimensions=8)) as index:
            index.add([pair("a.txt", ["the pump", "a filter"])])
        everything = [folder, *folder.rglob("*")]
        for path in everything:
            path.chmod(0o555 if path.is_dir() else 0o444)
        root = os.geteuid() == 0  # who may write whatever the mode says
        if root:
            os.seteuid(65534)
        try:
            reader = LocalIndex.open(folder / "i", embedder=HashingEmbedder(dimensions=8))
            assert len(reader.bm25("pump", k=3)) == 1
            assert len(reader.dense("pump", k=3)) == 2
            with pytest.raises(ConfigError, match="cannot be written"):
                reader.upsert(*pair("b.txt", "new"))
        finally:
            if root:
                os.seteuid(0)
            for path in everything:
                path.chmod(0o755)
