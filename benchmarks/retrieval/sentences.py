"""Questions whose answer has a place become a collection in BEIR layout of which each document is one sentence.

usage: python benchmarks/retrieval/sentences.py DATA/xquad/en OUT

OUT gets corpus.jsonl, queries.jsonl and qrels.tsv. A sentence is relevant to a question when the answer overlaps it.
Whether reranking puts the right sentence first is then measured by
`rag-app eval retrieval OUT --rankings hybrid,rerank --json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_app.text import sentence_spans
from rag_app.types import Span


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main() -> None:
    source, out = map(Path, sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    texts = {row["_id"]: row["text"] for row in rows(source / "corpus.jsonl")}
    spans = {doc_id: sentence_spans(text) for doc_id, text in texts.items()}
    with (out / "corpus.jsonl").open("w", encoding="utf-8") as corpus:
        for doc_id, found in spans.items():
            for span in found:
                line = {"_id": f"{doc_id}:{span.start}", "title": "", "text": span.slice(texts[doc_id])}
                corpus.write(json.dumps(line, ensure_ascii=False) + "\n")
    with (
        (out / "queries.jsonl").open("w", encoding="utf-8") as queries,
        (out / "qrels.tsv").open("w", encoding="utf-8") as qrels,
    ):
        qrels.write("query-id\tcorpus-id\tscore\n")
        for row in rows(source / "qa.jsonl"):
            answer = Span(row["answer_start"], row["answer_start"] + len(row["answers"][0]))
            queries.write(json.dumps({"_id": row["id"], "text": row["question"]}, ensure_ascii=False) + "\n")
            for span in spans[row["doc_id"]]:
                if span.overlaps(answer):
                    qrels.write(f"{row['id']}\t{row['doc_id']}:{span.start}\t1\n")


if __name__ == "__main__":
    main()
