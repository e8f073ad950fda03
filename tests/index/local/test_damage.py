"""Files that were cut, changed or cannot be written: what is told, and what is read all the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex
from rag_app.index.local.manifest import read_manifest, write_manifest
from rag_app.types import ConfigError, IndexDamagedError, IndexMismatchError, IndexMissingError

Pair = Callable[..., Any]

EMBEDDER = HashingEmbedder(dimensions=16)


def test_settings_of_another_version_are_named_when_they_are_first_needed(filled: Path) -> None:
    manifest = read_manifest(filled)
    manifest["settings"] = {**manifest["settings"], "quantum": True}
    write_manifest(filled, manifest)
    index = LocalIndex.open(filled)
    with pytest.raises(IndexMismatchError, match=r"quantum.*rebuild"):
        index.bm25("pump", k=1)


def test_a_cut_or_changed_file_is_named(filled: Path) -> None:
    files = sorted(path for path in (filled / "segments").rglob("*") if path.is_file())
    for path in [*files, filled / "manifest.json"]:
        good = path.read_bytes()
        for bad in (good[:-1], good[: len(good) // 2], b"", good[:40] + bytes([good[40] ^ 1]) + good[41:]):
            path.write_bytes(bad)
            with pytest.raises(IndexDamagedError, match=path.name):
                LocalIndex.open(filled)
        path.unlink()
        with pytest.raises((IndexDamagedError, IndexMissingError)):
            LocalIndex.open(filled)
        path.write_bytes(good)
    assert len(LocalIndex.open(filled)) == 10


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, on numbers that are none
@pytest.mark.parametrize("kind", ["arrays.bin", "chunks.jsonl", "documents.jsonl", "vectors.f32", "deleted-2.bin"])
def test_any_use_of_a_changed_file_names_it_or_works(kind: str, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an index that is too large to be checked when it is opened."""
    from rag_app.index.local import doors

    monkeypatch.setattr(doors, "_VERIFY_BELOW", 0)
    with LocalIndex.open(filled, embedder=EMBEDDER) as index:
        index.delete(sources=["0.txt"])
    (file,) = filled.glob(f"segments/*/{kind.replace('2', '*')}")
    good, random_ = file.read_bytes(), random.Random(7)
    ids = LocalIndex.open(filled).chunk_ids()
    doc_id = LocalIndex.open(filled).documents()[0][0]
    for _ in range(40):
        raw = bytearray(good)
        for _ in range(random_.choice([1, 3, 30])):
            raw[random_.randrange(len(raw))] = random_.randrange(256)
        file.write_bytes(raw)
        for use in (
            lambda index: index.bm25("pump filter", k=5),
            lambda index: index.dense("pump", k=5, filter={"n": {"$gt": 1}}),
            lambda index: index.get(ids),
            lambda index: index.vectors(index.chunk_ids()),
            lambda index: index.documents(),
            lambda index: index.fields(),
            lambda index: index.chunks_of(doc_id),
        ):
            faults: list[str] = []
            try:
                use(LocalIndex.open(filled, embedder=EMBEDDER))
            except IndexDamagedError as error:
                faults.append(str(error))
            except KeyError:
                pass  # the id is another one now
            assert all(file.name in fault for fault in faults)
    file.write_bytes(good)


def test_a_folder_that_cannot_be_written_is_read_all_the_same(filled: Path, pair: Pair) -> None:
    (filled / "lock").unlink()
    (filled / "lock").mkdir()  # stands for a lock that cannot be made; root may write anywhere
    index = LocalIndex.open(filled)
    assert index.bm25("pump", k=1)
    with pytest.raises(ConfigError, match="cannot be written"):
        index.upsert(*pair("new.txt", ["new"]))
