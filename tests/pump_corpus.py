"""A small corpus, questions to it, and answers without their clocks."""

from __future__ import annotations

from typing import Any

from rag_app.answer import Answer
from rag_app.types import to_json

FILES = {
    "pump.md": "# Pump P-7\n\n## Filter\n\nReplace the filter every 6 months. Use part AB-123 only.\n\n"
    "## Warranty\n\nThe pump has a warranty of 24 months from the date of purchase.\n",
    "memo.txt": "The warranty of the pump was raised to 36 months in March 2025.\n\nLunch is at noon.\n",
    "news.txt": "The city council met on Tuesday. Nothing was decided about the new bridge.\n",
}

QUESTIONS = ["How often should the filter be replaced?", "What is the warranty of the pump?", "Who wrote Hamlet?"]


def timeless(answer: Answer) -> dict[str, Any]:
    """The answer without its clocks."""
    tree = to_json(answer)
    tree["timings"] = tree["trace"]["timings"] = tree["report"] = {}
    for verdict in tree["verdicts"]:
        verdict["seconds"] = 0.0
    return dict(tree)
