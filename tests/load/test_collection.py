"""The loaders over real files of many kinds: every file ends as documents or as a failure with a true reason."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from rag_app.load import Loader
from rag_app.types import LoadedDocument, LoadFailure

pytestmark = [pytest.mark.data, pytest.mark.docs]


@pytest.fixture(scope="module")
def folder(data_dir: Path) -> Path:
    return data_dir / "documents"


@pytest.fixture(scope="module")
def known(folder: Path) -> dict[str, dict[str, object]]:
    lines = (folder / "index.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["file"]: row for row in map(json.loads, lines)}


@pytest.fixture(scope="module")
def loaded(folder: Path, known: dict[str, dict[str, object]]) -> list[LoadedDocument | LoadFailure]:
    passwords = sorted({str(row["password"]) for row in known.values() if row["password"]})
    started = time.monotonic()
    items = list(Loader.model_validate({"passwords": passwords, "exclude": ["/index.jsonl"]}).load_all([folder]))
    assert time.monotonic() - started < 180
    return items


def test_every_file_is_accounted_for(
    loaded: list[LoadedDocument | LoadFailure], known: dict[str, dict[str, object]]
) -> None:
    sources = {item.source if isinstance(item, LoadFailure) else item.metadata["source"] for item in loaded}
    assert {source.split("#")[0] for source in sources} == set(known)
    assert all(item.page_content.strip() for item in loaded if isinstance(item, LoadedDocument))


def test_only_files_without_readable_text_fail(
    loaded: list[LoadedDocument | LoadFailure], known: dict[str, dict[str, object]]
) -> None:
    failed = {item.source: item for item in loaded if isinstance(item, LoadFailure)}
    for source, failure in failed.items():
        row = known[source]
        hopeless = {"no-text-layer", "broken", "fuzzed", "garbage", "empty", "rotated", "page-labels", "table"}
        assert hopeless & set(row["tags"]), failure  # type: ignore[call-overload]
        assert not row.get("chars_first_30_pages"), failure
    for source, row in known.items():
        if row.get("pages_without_text_of_first_30") == row.get("pages") and row.get("pages"):
            assert failed[source].error == "no_text"


def test_pages_and_offsets_fit(loaded: list[LoadedDocument | LoadFailure], known: dict[str, dict[str, object]]) -> None:
    for item in loaded:
        if isinstance(item, LoadedDocument) and item.layout.pages:
            row = known[item.metadata["source"].split("#")[0]]
            if row.get("pdfium_pages"):
                assert item.metadata["page_count"] == row["pdfium_pages"]
            assert all(0 <= page.start <= page.end <= len(item.page_content) for page in item.layout.pages)
            for box in item.layout.boxes:
                page = item.layout.pages[box.page - 1]
                assert page.start <= box.start < box.end <= page.end
                assert item.page_content[box.start : box.end].strip()


def test_most_of_what_a_pdf_reader_sees_is_there(
    loaded: list[LoadedDocument | LoadFailure], known: dict[str, dict[str, object]]
) -> None:
    for item in loaded:
        if isinstance(item, LoadedDocument) and item.metadata["format"] == "pdf":
            expected = known[item.metadata["source"]].get("pdfium_chars_first_30_pages")
            assert not isinstance(expected, int) or len(item.page_content) > 0.9 * expected - 5, item.metadata["source"]
