"""From paths to the files to load: folders are walked in order, globs and ignore files left out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rag_app.types import LoadFailure

IGNORE_FILE = ".ragignore"
NO_FILES = "the folder holds no files"
USUALLY_IGNORED = (
    "__pycache__/", "node_modules/", "*.egg-info/", "*.pyc", "*.pyo", "*.so", "*.o", "*.class", "Thumbs.db",
    "desktop.ini", "~$*",
)  # fmt: skip


class Found(NamedTuple):
    """A file to load: `source` is its path below the common root, as POSIX writes it."""

    path: str
    source: str
    size: int


def find(
    paths: Sequence[str | Path],
    *,
    root: str | Path | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    hidden: bool = False,
) -> Iterator[Found | LoadFailure]:
    """The files of `paths` in a stable order, each once; a path that is not there, or a folder without files, fails.

    `source` is the path below `root`; without one, below the deepest folder that holds all arguments (for a single file
    its own folder, for a single folder that folder). `include` and `exclude` are patterns as in .gitignore; so are the
    lines of a `.ragignore` file in any folder. Links to folders are not followed; an index is left out.
    """
    base = os.path.abspath(root) if root is not None else common_root(paths)
    seen: set[str] = set()
    for path in paths:
        if path == "":  # an unset variable of a shell; as a path it would name the current folder
            yield LoadFailure("", "missing", "the path is empty")
            continue
        absolute = os.path.abspath(path)
        source = readable(os.path.relpath(absolute, base))
        if is_index(absolute):
            yield LoadFailure(source, "unsupported", "this folder is an index, no documents; name the folder of these")
        elif os.path.isdir(absolute):
            count = 0
            for item in _walk(absolute, base, include, [*USUALLY_IGNORED, *exclude], hidden):
                count += 1
                if isinstance(item, LoadFailure) or item.path not in seen:
                    seen.add(item.path if isinstance(item, Found) else "")
                    yield item
            if not count:
                wanted = " that the patterns let through" if include or exclude else ""
                yield LoadFailure(source, "empty", f"{NO_FILES}{wanted}")
        elif os.path.isfile(absolute):
            if absolute not in seen:
                seen.add(absolute)
                yield Found(absolute, source, _size(absolute))
        elif os.path.lexists(absolute):
            yield LoadFailure(source, "unsupported", "neither a file nor a folder (a device, a pipe or a broken link)")
        else:
            yield LoadFailure(readable(str(path)), "missing", "there is no such file or folder")


def common_root(paths: Sequence[str | Path]) -> str:
    """The deepest folder that holds all of `paths`."""
    # A path that is not there must not change how the others are called.
    there = [path for path in (os.path.abspath(path) for path in paths if path != "") if os.path.lexists(path)]
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in there]
    try:
        return os.path.commonpath(folders) if folders else os.getcwd()
    except ValueError:  # other drives
        return os.sep


def is_index(folder: str) -> bool:
    """Whether the folder is an index of ours: what it holds was made from documents and is none."""
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and {"canaries", "generation", "segments"} <= manifest.keys()


def readable(path: str) -> str:
    """A path as text: POSIX separators; bytes that are no UTF-8 as `\\xNN`, so that it can be printed."""
    return os.fsencode(path.replace(os.sep, "/")).decode("utf-8", "backslashreplace")


def _walk(
    folder: str, base: str, include: Sequence[str], rules: Sequence[str], hidden: bool
) -> Iterator[Found | LoadFailure]:
    wanted = [Pattern(pattern) for pattern in include]
    yield from _folder(folder, "", base, wanted, [("", Pattern(rule)) for rule in rules], hidden)


def _folder(
    folder: str, below: str, base: str, wanted: list[Pattern], rules: list[tuple[str, Pattern]], hidden: bool
) -> Iterator[Found | LoadFailure]:
    source = readable(os.path.relpath(folder, base))
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield LoadFailure(source, "unreadable", f"the folder cannot be read: {error.strerror}")
        return
    rules = [*rules, *((below, Pattern(line)) for line in _ignore_lines(os.path.join(folder, IGNORE_FILE)))]
    for entry in entries:
        relative = f"{below}{entry.name}"
        is_folder = _is_folder(entry)
        if (entry.name.startswith(".") and not hidden) or ignored(relative, is_folder, rules):
            continue
        if is_folder and not is_index(entry.path):
            yield from _folder(entry.path, f"{relative}/", base, wanted, rules, hidden)
        elif not is_folder and os.path.isfile(entry.path):  # `entry.is_file()` raises where links go in a circle
            if not wanted or any(pattern.matches(relative, False) for pattern in wanted):
                yield Found(entry.path, readable(os.path.relpath(entry.path, base)), _size(entry.path))
        elif not os.path.isdir(entry.path) and os.path.lexists(entry.path):
            name = readable(os.path.relpath(entry.path, base))
            yield LoadFailure(name, "unsupported", "neither a file nor a folder (a device, a pipe or a broken link)")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _size(path: str) -> int:
    """The size of a file; 0 when it went away since it was seen: reading it says so."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _ignore_lines(path: str) -> list[str]:
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [line.rstrip() for line in lines if line.strip() and not line.startswith("#")]


def ignored(relative: str, is_folder: bool, rules: Iterable[tuple[str, Pattern]]) -> bool:
    """Whether the last rule that matches excludes; each rule counts from the folder that stated it."""
    verdict = False
    for below, pattern in rules:
        if relative.startswith(below) and pattern.matches(relative[len(below) :], is_folder):
            verdict = not pattern.negated
    return verdict


class Pattern:
    """A line of a .gitignore file: `*`, `**`, `?`, `[...]`, a leading `!` or `/`, a trailing `/`."""

    def __init__(self, line: str) -> None:
        self.negated = line.startswith("!")
        body = line[1:] if self.negated else line
        self._folders_only = body.endswith("/")
        body = body.rstrip("/")
        anchored = "/" in body
        self._regex = re.compile(("" if anchored else "(?:.*/)?") + _translate(body.lstrip("/")) + r"\Z", re.DOTALL)

    def matches(self, relative: str, is_folder: bool) -> bool:
        """Whether the pattern names this path."""
        return (is_folder or not self._folders_only) and self._regex.match(relative) is not None


def _translate(glob: str) -> str:
    out, place = "", 0
    while place < len(glob):
        if glob.startswith("**/", place):
            out, place = out + "(?:.*/)?", place + 3
        elif glob.startswith("**", place):
            out, place = out + ".*", place + 2
        elif glob[place] == "*":
            out, place = out + "[^/]*", place + 1
        elif glob[place] == "?":
            out, place = out + "[^/]", place + 1
        elif glob[place] == "[" and "]" in glob[place + 2 :]:
            end = glob.index("]", place + 2)
            inner = glob[place + 1 : end].replace("\\", "\\\\")
            out, place = out + "[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]", end + 1
        else:
            out, place = out + re.escape(glob[place]), place + 1
    return out
