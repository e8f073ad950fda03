"""Set the offsets of the gold passages in the sample questions from their quotes.

    python benchmarks/sample/fix_spans.py [--check]

Write or change a quote in `rag_app/sample/questions.jsonl`, then run this. The quote is looked up in the text that
`rag_app.load` gives, whatever its white space; it must stand there exactly once and is written as it stands there.
With `--check` nothing is written and the exit code says whether something would have been.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from rag_app.load import load_path
from rag_app.sample import documents_path, questions_path
from rag_app.types import LoadedDocument


def texts() -> dict[str, str]:
    """The text of every sample document by its source."""
    loaded = load_path(documents_path())
    failures = [item for item in loaded if not isinstance(item, LoadedDocument)]
    if failures:
        raise SystemExit(f"sample documents that do not load: {failures}")
    return {item.metadata["source"]: item.page_content for item in loaded if isinstance(item, LoadedDocument)}


def find(text: str, quote: str) -> list[tuple[int, int]]:
    """Every place of `quote` in `text`, where any run of white space equals any other."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    return [match.span() for match in re.finditer(pattern, text)]


def fixed(row: dict[str, Any], corpus: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The gold passages of one question with the offsets of their quotes."""
    for gold in row["gold"]:
        places = find(corpus[gold["source"]], gold["quote"])
        if len(places) != 1:
            raise SystemExit(f"{row['id']}: {len(places)} places in {gold['source']} for {gold['quote']!r}; want one")
        start, end = places[0]
        yield {"source": gold["source"], "start": start, "end": end, "quote": corpus[gold["source"]][start:end]}


def main() -> int:
    before = questions_path().read_text(encoding="utf-8")
    corpus = texts()
    rows = [json.loads(line) for line in before.splitlines()]
    rows = [{**row, "gold": list(fixed(row, corpus))} for row in rows]
    after = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if "--check" in sys.argv:
        return int(after != before)
    questions_path().write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
