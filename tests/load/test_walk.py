from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_app.load.walk import Found, Pattern, find, readable
from rag_app.types import LoadFailure


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("b.txt", "a/x.md", "a/y.log", "a/deep/z.md", ".git/config", "node_modules/m.js", ".env"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def sources(*paths: Path, **options: object) -> list[str]:
    return [item.source for item in find(paths, **options)]  # type: ignore[arg-type]


def test_a_folder_is_walked_in_order_without_hidden_and_generated_files(tree: Path) -> None:
    assert sources(tree) == ["a/deep/z.md", "a/x.md", "a/y.log", "b.txt"]
    assert ".env" in sources(tree, hidden=True)


def test_patterns_and_ignore_files_choose(tree: Path) -> None:
    assert sources(tree, include=["*.md"]) == ["a/deep/z.md", "a/x.md"]
    assert sources(tree, exclude=["a/deep/", "*.log"]) == ["a/x.md", "b.txt"]
    (tree / "a" / ".ragignore").write_text("# comment\n*.md\n!x.md\n")
    assert sources(tree) == ["a/x.md", "a/y.log", "b.txt"]


def test_sources_of_several_arguments_are_unique_below_their_common_folder(tree: Path) -> None:
    (tree / "c").mkdir()
    (tree / "c" / "x.md").write_text("y")
    assert sources(tree / "a", tree / "c") == ["a/deep/z.md", "a/x.md", "a/y.log", "c/x.md"]
    assert sources(tree / "b.txt") == ["b.txt"]
    assert sources(tree / "a", tree / "a" / "x.md") == ["deep/z.md", "x.md", "y.log"]


def test_what_is_not_there_fails_with_a_reason(tree: Path) -> None:
    (tree / "empty").mkdir()
    (tree / "dangling").symlink_to("nowhere")
    items = list(find([tree / "gone", tree / "empty", tree / "dangling"]))
    assert [(item.source, item.error) for item in items if isinstance(item, LoadFailure)] == [
        (str(tree / "gone"), "missing"),
        ("empty", "empty"),
        ("dangling", "unsupported"),
    ]


def test_a_missing_path_does_not_change_how_the_others_are_called(tree: Path) -> None:
    assert sources(tree / "a", Path("/no/such/path")) == ["deep/z.md", "x.md", "y.log", "/no/such/path"]


def test_links_to_folders_are_not_followed(tree: Path) -> None:
    (tree / "loop").symlink_to(tree)
    assert all(isinstance(item, Found) for item in find([tree]))
    assert len(sources(tree)) == 4


@pytest.mark.parametrize(
    ("pattern", "path", "is_folder", "matches"),
    [
        ("*.md", "a/b.md", False, True),
        ("/*.md", "a/b.md", False, False),
        ("a/**/z", "a/b/c/z", False, True),
        ("a/**", "a/b/c", False, True),
        ("docs/", "docs", True, True),
        ("docs/", "docs", False, False),
        ("f[0-9].t?t", "f3.txt", False, True),
        ("f[!0-9]", "f3", False, False),
    ],
)
def test_patterns_read_as_in_gitignore(pattern: str, path: str, is_folder: bool, matches: bool) -> None:
    assert Pattern(pattern).matches(path, is_folder) is matches


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX only")
def test_a_name_that_is_no_unicode_can_still_be_printed() -> None:
    assert readable(os.fsdecode(b"caf\xe9.txt")) == "caf\\xe9.txt"


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_links_in_a_circle_links_to_nowhere_and_pipes_fail_alone(tmp_path: Path) -> None:
    (tmp_path / "circle.md").symlink_to("circle.md")
    (tmp_path / "nowhere.md").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "good.txt").write_text("x")
    (tmp_path / "back").symlink_to(".")
    items = list(find([tmp_path]))
    assert [item.source for item in items if isinstance(item, Found)] == ["good.txt"]
    assert {i.source: i.error for i in items if isinstance(i, LoadFailure)} == dict.fromkeys(
        ("circle.md", "nowhere.md", "pipe.txt"), "unsupported"
    )


def test_a_file_that_vanishes_while_the_folder_is_walked_was_never_there(tree: Path) -> None:
    walk = find([tree])
    next(walk)
    (tree / "b.txt").unlink()
    assert [item.source for item in walk] == ["a/x.md", "a/y.log"]


def test_an_empty_path_is_missing_and_not_the_current_folder(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    (failure,) = find([""])
    assert isinstance(failure, LoadFailure)
    assert failure.error == "missing"
    assert sources(tree / "a" / "x.md", "") == ["x.md", ""]  # type: ignore[arg-type]
