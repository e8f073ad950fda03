"""`rag-app eval chunks`: sizes against their target, and recall, precision, IoU against gold spans."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
