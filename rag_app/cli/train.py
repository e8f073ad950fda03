"""`rag-app train`: models fitted on a user's own judgments."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
