"""`rag-app eval answers`: citation precision and recall, support, abstention, exact match and F1."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command `eval answers`."""
