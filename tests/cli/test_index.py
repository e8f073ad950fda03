"""`rag-app index` as other programs drive it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_app.cli import main
from rag_app.index import LocalIndex

SETTINGS = ("--set", "embed.kind=hashing")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for i in range(3):
        (docs / f"{i}.txt").write_text(f"The pump number {i} is blue.\n")
    return docs


def run(
    capsys: pytest.CaptureFixture[str], *arguments: str, settings: tuple[str, ...] = SETTINGS
) -> tuple[int, Any, str]:
    with pytest.raises(SystemExit) as end:
        main(["index", *arguments, *settings, "--json"])
    out, err = capsys.readouterr()
    return int(end.value.code or 0), json.loads(out) if out else None, err


def test_a_first_run_adds_a_second_skips_and_sync_deletes(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--index", str(tmp_path / "index"))
    code, dry, _ = run(capsys, str(folder), *place, "--dry-run")
    assert (code, dry["added"]) == (0, 3)
    assert not (tmp_path / "index").exists()
    code, first, _ = run(capsys, str(folder), *place)
    assert (code, first["documents"], first["chunks"], first["added"], first["failed"]) == (0, 3, 3, 3, [])
    code, second, _ = run(capsys, str(folder), *place)
    assert (second["added"], second["updated"], second["skipped"]) == (0, 0, 3)
    (folder / "0.txt").unlink()
    (folder / "1.txt").write_text("Another text.")
    _, third, _ = run(capsys, str(folder), *place, "--sync")
    assert (third["added"], third["updated"], third["deleted"], third["documents"]) == (0, 1, 1, 2)
    _, fourth, _ = run(capsys, *place, "--delete", "1.txt")
    assert (fourth["deleted"], fourth["documents"]) == (1, 1)
    code, fifth, _ = run(capsys, *place, "--delete", "1.txt")
    assert (code, fifth["failed"]) == (1, [{"source": "1.txt", "reason": "the index has no such source"}])
    _, sixth, _ = run(capsys, str(folder), *place, "--rebuild")
    assert (sixth["added"], sixth["documents"]) == (2, 2)


def test_a_file_that_fails_is_listed_and_the_others_go_on(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report, _ = run(capsys, str(folder), str(tmp_path / "missing.txt"), "--index", str(tmp_path / "index"))
    assert code == 1
    assert report["added"] == 3
    assert "missing.txt" in report["failed"][0]["source"]


def test_an_index_of_another_embedder_is_exit_3_and_rebuild_or_reembed_is_the_way_out(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, other = ("--index", str(tmp_path / "index")), (*SETTINGS, "--set", "embed.dimensions=32")
    run(capsys, str(folder), *place)
    code, report, err = run(capsys, str(folder), *place, settings=other)
    assert (code, report) == (3, None)
    assert "hashing-256" in err
    assert "hashing-32" in err
    code, report, _ = run(capsys, *place, "--reembed", settings=other)
    assert (code, report["documents"], report["chunks"]) == (0, 3, 3)
    code, report, _ = run(capsys, str(folder), *place, settings=other)
    assert (code, report["skipped"]) == (0, 3)


def test_nothing_to_do_is_exit_2_and_no_index_exit_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--index", str(tmp_path / "index"))[0] == 2
    assert run(capsys, "--index", str(tmp_path / "index"), "--delete", "a.txt")[0] == 3


def test_sync_with_a_folder_that_was_emptied_takes_nothing_out_unless_told_to(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--index", str(tmp_path / "index"), "--sync")
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("A filter.")
    run(capsys, str(folder), str(other), *place)
    for file in folder.iterdir():
        file.unlink()
    for extra in ((), ("--dry-run",), (str(other),)):
        code, report, _ = run(capsys, str(folder), *place, *extra)
        assert (code, report["deleted"], report["documents"]) == (1, 0, 4)
        assert "--allow-empty" in report["failed"][0]["reason"]
    code, report, _ = run(capsys, str(folder), str(other), *place, "--allow-empty")
    assert (code, report["failed"], report["deleted"], report["documents"]) == (0, [], 3, 1)


def test_reembed_measures_again_what_was_measured_with_the_old_vectors(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, approximate = ("--index", str(tmp_path / "index")), (*SETTINGS, "--set", "index.dense=int8")
    _, first, _ = run(capsys, str(folder), *place, settings=approximate)
    other = (*approximate, "--set", "embed.dimensions=32")
    code, report, _ = run(capsys, *place, "--reembed", settings=other)
    assert (code, report["tested"], report["updated"]) == (0, 3, 0)
    assert report["dense_recall"] == first["dense_recall"] == 1.0
    notes = LocalIndex.open(tmp_path / "index").notes
    assert notes["dense_recall"] == 1.0
    assert notes["arms"]["chunks"] == 3


def test_allow_empty_without_sync_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The pump.", encoding="utf-8")
    code, _, err = run(capsys, str(tmp_path / "a.txt"), "--index", str(tmp_path / "index"), "--allow-empty")
    assert code == 2
    assert "add --sync" in err
    assert not (tmp_path / "index").exists()


def test_a_full_disk_is_one_sentence_and_what_was_committed_stays(folder: Path, tmp_path: Path) -> None:
    # A limit on the size of files fails as a full disk does, in the middle of a write.
    program = (
        "import resource, sys\n"
        "from rag_app.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))\n"
        "main(sys.argv[2:])\n"
    )
    arguments = [str(folder), "--index", str(tmp_path / "index"), *SETTINGS]
    for limit, code in (("10000000", 0), ("20000", 1)):
        done = subprocess.run(
            [sys.executable, "-c", program, limit, "index", *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        (folder / "large.txt").write_text("\n\n".join(f"The valve number {i} is red." for i in range(3000)))
    assert "no room for the index in" in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(LocalIndex.open(tmp_path / "index")) == 3
