"""The manifest: what the index was built with, which files belong to it, and their checksums. Replaced in one step."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_app.errors import IndexDamagedError, IndexMismatchError, IndexMissingError
from rag_app.index.local.mapped import sync_file

FORMAT = 1
NAME = "manifest.json"
_REBUILD = "rebuild with `rag-app index --rebuild`"


def checksum(path: Path) -> str:
    """SHA-256 of the file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def describe(path: Path) -> dict[str, Any]:
    """Size and checksum, as they stand in the manifest."""
    return {"size": path.stat().st_size, "sha256": checksum(path)}


def _own_checksum(manifest: Mapping[str, Any]) -> str:
    content = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Put the manifest in place: readers see the old one or the new one, also when the machine stops in between."""
    new = folder / f"{NAME}.new"
    complete = {**manifest, "checksum": _own_checksum(manifest)}
    with new.open("w", encoding="utf-8") as out:
        json.dump(complete, out, ensure_ascii=True, indent=1, sort_keys=True)
        out.flush()
        os.fsync(out.fileno())
    new.replace(folder / NAME)
    sync_file(folder)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the index in `folder`.

    IndexMissingError when there is none, IndexDamagedError when it was changed or cut, IndexMismatchError when a newer
    version of the package wrote it.
    """
    try:
        raw = (folder / NAME).read_text(encoding="utf-8")
    except NotADirectoryError:
        raise IndexMissingError(f"{folder} is a file, and an index is a folder; name the folder") from None
    except FileNotFoundError:
        raise IndexMissingError(
            f"there is no index in {folder}; make one with `rag-app index PATH... --index {folder}`"
        ) from None
    except UnicodeDecodeError as error:
        raise IndexDamagedError(f"{folder / NAME} is damaged ({error}); {_REBUILD}") from error
    try:
        manifest: dict[str, Any] = json.loads(raw)
        version = manifest["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise IndexDamagedError(f"{folder / NAME} is damaged ({error}); {_REBUILD}") from error
    if version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        way_out = f"update rag_app, or {_REBUILD}" if newer else _REBUILD
        raise IndexMismatchError(f"the index in {folder} has format {version}, this rag_app reads {FORMAT}; {way_out}")
    if manifest.get("checksum") != _own_checksum(manifest):
        raise IndexDamagedError(f"{folder / NAME} does not agree with its own checksum; {_REBUILD}")
    return manifest


def files_of(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Every file the manifest names (relative path), with its size and checksum."""
    return {
        f"segments/{segment['name']}/{name}": facts
        for segment in manifest["segments"]
        for name, facts in segment["files"].items()
    }


def check_sizes(folder: Path, manifest: Mapping[str, Any]) -> None:
    """IndexDamagedError when a file has another size than it was written with; FileNotFoundError when one is gone."""
    for name, facts in files_of(manifest).items():
        size = (folder / name).stat().st_size
        if size != facts["size"]:
            raise IndexDamagedError(f"{folder / name} has {size} bytes, was written with {facts['size']}; {_REBUILD}")


def damaged_files(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The files that are missing or have another content than they were written with; reads all of them."""
    faults: list[str] = []
    for name, facts in files_of(manifest).items():
        path = folder / name
        if not path.exists():
            faults.append(f"{path} is missing")
        elif path.stat().st_size != facts["size"]:
            faults.append(f"{path} has {path.stat().st_size} bytes, was written with {facts['size']}")
        elif checksum(path) != facts["sha256"]:
            faults.append(f"{path} has changed since it was written (its checksum differs)")
    return faults


def check_contents(folder: Path, manifest: Mapping[str, Any]) -> None:
    """IndexDamagedError that names the files at fault, when there are any."""
    faults = damaged_files(folder, manifest)
    if faults:
        raise IndexDamagedError(f"{'; '.join(faults)}; {_REBUILD}")
