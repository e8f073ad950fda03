"""Arrays kept on the disk: found once, found again, made anew when they are damaged; safe for two at once."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.backend.kept import cache_folder, checksummed, content_key, kept


def numbers(calls: list[int]) -> np.ndarray:
    calls.append(1)
    return np.arange(6, dtype=np.float32).reshape(2, 3)


def test_what_was_found_is_not_looked_for_again(tmp_path: Path) -> None:
    calls: list[int] = []
    first = kept(tmp_path / "new" / "a.npy", lambda: numbers(calls))
    again = kept(tmp_path / "new" / "a.npy", lambda: numbers(calls))
    assert len(calls) == 1
    assert (first == again).all()
    assert again.dtype == np.float32
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["a.npy"]


@given(st.integers(0, 300), st.integers(1, 255), st.booleans())
def test_one_changed_byte_or_a_cut_end_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, place: int, flip: int, cut: bool
) -> None:
    path = tmp_path_factory.mktemp("kept") / "a.npy"
    calls: list[int] = []
    whole = checksummed(numbers([]))
    place %= len(whole)
    path.write_bytes(whole[:place] if cut else whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
    assert (kept(path, lambda: numbers(calls)) == numbers([])).all()
    assert len(calls) == 1
    assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_keeps_nothing_and_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    calls: list[int] = []
    for _ in range(2):
        assert kept(tmp_path / "file" / "a.npy", lambda: numbers(calls)).shape == (2, 3)
    assert len(calls) == 2


def test_many_at_once_agree_and_leave_one_file(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: kept(tmp_path / "a.npy", lambda: numbers([])), range(40)))
    assert all((each == numbers([])).all() for each in found)
    assert [file.name for file in tmp_path.iterdir()] == ["a.npy"]


def test_the_key_is_of_the_contents(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (tmp_path / name).write_text(name)
    first = content_key(tmp_path, "x")
    assert content_key(tmp_path, "x") == first != content_key(tmp_path, "y")
    (tmp_path / "model.safetensors").write_text("other weights")
    assert content_key(tmp_path, "x") != first


@pytest.mark.skipif(sys.platform != "linux", reason="where Linux keeps a user's caches")
def test_the_cache_is_where_the_system_keeps_caches_or_where_the_setting_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "rag-app"
    assert cache_folder("mine") == Path("mine")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "rag-app"


@pytest.mark.skipif(sys.platform != "linux", reason="where Linux keeps a user's caches")
def test_a_user_without_a_home_keeps_nothing_and_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    def nobody(_: int) -> None:
        raise KeyError("uid not found")

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert kept(cache_folder() / "a.npy", lambda: numbers([])).shape == (2, 3)
    assert cache_folder("mine") == Path("mine")
