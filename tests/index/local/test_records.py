"""What goes in comes out: metadata as lines of JSON and back."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
import pathlib
import uuid
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_app.index.local.records import chunk_line, fingerprint_of, plain, read_chunk, revived
from rag_app.types import ConfigError, LoadedDocument

keys = st.sampled_from(["a", "b", "$date", "$datetime", "$literal", ""])
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(dt.UTC)),
)
metadatas = st.dictionaries(
    keys,
    st.recursive(leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2)),
    max_size=3,
)


@given(metadatas)
def test_metadata_comes_back_equal_whatever_its_keys_are_called(metadata: dict[str, Any]) -> None:
    assert revived(json.loads(json.dumps(plain(metadata, "metadata")))) == metadata
    chunk = Document(id="c", page_content="text", metadata=metadata)
    assert read_chunk("c", json.loads(chunk_line(chunk))) == chunk


class NaT(dt.datetime):
    """As pandas' `NaT`: a datetime that is none."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = dt.datetime.__hash__

    def isoformat(self, *_: Any) -> str:
        return "NaT"


class Color(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.datetime64("2024-03-01"), dt.date(2024, 3, 1)),
        (decimal.Decimal("1.50"), "1.50"),
        (uuid.UUID(int=4), "00000000-0000-0000-0000-000000000004"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (Color.RED, "red"),
        (NaT(1, 1, 1), None),
        ((1, 2), [1, 2]),
        ({2, 1}, [1, 2]),
    ],
)
def test_values_that_json_does_not_know_are_kept_in_a_plain_form(value: Any, kept: Any) -> None:
    chunk = Document(id="c", page_content="text", metadata={"value": value})
    assert read_chunk("c", json.loads(chunk_line(chunk))).metadata == {"value": kept}


def test_metadata_that_holds_itself_is_refused_by_name() -> None:
    metadata: dict[str, Any] = {}
    metadata["own"] = [metadata]
    document = LoadedDocument.model_construct(id="d", page_content="text", metadata=metadata)
    with pytest.raises(ConfigError, match=r"document d: metadata\.own\[0\]\.own.*levels deep"):
        fingerprint_of(document)
