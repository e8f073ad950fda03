"""The pickle of a LangChain FAISS folder that wants to do more than hold documents is refused."""

from __future__ import annotations

import copyreg
import functools
import os
import pickle
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faiss_folder import EMBEDDER
from langchain_core.documents import Document

from rag_app.index.import_faiss import import_faiss, read_docstore
from rag_app.types import IndexDamagedError


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/should-not-exist",)


def calling(function: Any, *arguments: Any) -> Any:
    """What calls the function when it is unpickled."""

    class Payload:
        def __reduce__(self) -> Any:
            return function, arguments

    return Payload()


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
@pytest.mark.parametrize(
    "payload",
    [
        Evil(),
        calling(eval, "1"),
        calling(getattr, os, "system"),
        calling(__import__, "os"),
        calling(subprocess.Popen, ["true"]),
        calling(open, "should-not-exist", "w"),
        calling(type, "X", (), {}),
        calling(functools.partial, print),
        calling(copyreg._reconstructor, object, object, None),  # type: ignore[attr-defined]
        calling(np.frombuffer, b"x"),
        print,
        object(),
        defaultdict(list),
    ],
    ids=lambda payload: type(payload).__name__,
)
def test_nothing_is_called_wherever_the_payload_stands(payload: Any, protocol: int) -> None:
    store = {"state": payload}
    for content in (
        payload,
        (payload, {}),
        ([payload], {}),
        ({}, payload),
        (store, {0: payload}),
        {payload.__hash__: 1},
    ):
        with pytest.raises((pickle.UnpicklingError, TypeError, ValueError, AttributeError)):
            read_docstore(pickle.dumps(content, protocol))


@pytest.mark.community
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x80\x04\x82\x01.",  # an extension code
        b"(S'true'\nios\nsystem\n.",
        b"\x80\x04\x8c\x01aQ.",  # a persistent id
        b"\x80\x04\x95" + b"\xff" * 8,  # a frame beyond all memory
        b"\x80\x04\x8e" + b"\xff" * 7 + b"\x0f",  # bytes beyond all memory
        b"\x80\x04Np99999999999\n.",
        b"\x80\x04" + b"]" * 1000 + b"a" * 999 + b".",
        b"\x80\x04]q\x00h\x00a.",  # a list that holds itself
    ],
)
def test_bytes_made_to_harm_are_one_sentence(raw: bytes, saved: Path, tmp_path: Path) -> None:
    (saved / "index.pkl").write_bytes(raw)
    with pytest.raises(IndexDamagedError, match=r"index\.pkl is not read"):
        import_faiss(saved, tmp_path / "new", embedder=EMBEDDER)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "content",
    [Evil(), (Evil(), {}), ({}, {}), [1], "text", (Document(page_content="x"), {0: "a"})],
    ids=["call", "call inside", "no docstore", "list", "string", "document for a docstore"],
)
def test_a_pickle_that_is_no_docstore_builds_nothing(content: Any) -> None:
    with pytest.raises((pickle.UnpicklingError, TypeError, ValueError)):
        read_docstore(pickle.dumps(content))


@pytest.mark.community
def test_a_folder_with_such_a_pickle_is_damaged(saved: Path, tmp_path: Path) -> None:
    (saved / "index.pkl").write_bytes(pickle.dumps((Evil(), {})))
    with pytest.raises(IndexDamagedError, match=r"system, which is refused"):
        import_faiss(saved, tmp_path / "new", embedder=EMBEDDER)
