"""Test collections in BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_app.jsonable import lines_of
from rag_app.text import normalize
from rag_app.types import ConfigError, LoadedDocument, make_doc_id


@dataclass(frozen=True, slots=True)
class Dataset:
    """A collection: documents by id, queries by id, and `qrels[query_id][document_id]` = grade."""

    name: str
    corpus: dict[str, str]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]] = field(repr=False)

    def documents(self) -> Iterator[LoadedDocument]:
        """The corpus as loaded documents, whose `source` is the document's id."""
        for document_id, text in self.corpus.items():
            text = normalize(text)
            doc_id = make_doc_id(document_id, text)
            yield LoadedDocument(
                id=doc_id,
                page_content=text,
                metadata={"source": document_id, "doc_id": doc_id, "document_type": "text", "page_count": None},
            )


def read_dataset(folder: str | Path, *, split: str | None = None, limit: int | None = None) -> Dataset:
    """The collection in `folder`; with `split`, of `queries.{split}.jsonl` and `qrels.{split}.tsv`.

    With `limit`, only the first so many judged queries. Title and text are joined by a blank line. Judgments of unknown
    queries or documents are kept out; ConfigError names a missing or broken file with its line.
    """
    root = Path(folder)
    middle = f".{split}" if split else ""
    corpus = {
        str(row["_id"]): f"{row.get('title') or ''}\n\n{row['text']}".strip() + "\n"
        for row in _rows(root / "corpus.jsonl", ("_id", "text"))
    }
    queries = {str(row["_id"]): str(row["text"]) for row in _rows(root / f"queries{middle}.jsonl", ("_id", "text"))}
    qrels: dict[str, dict[str, int]] = {}
    for query_id, document_id, grade in _judgments(root / f"qrels{middle}.tsv"):
        if query_id in queries and document_id in corpus:
            qrels.setdefault(query_id, {})[document_id] = grade
    if not any(grade > 0 for grades in qrels.values() for grade in grades.values()):
        raise ConfigError(
            f"no query of {root} has a relevant document: qrels{middle}.tsv names no query of queries{middle}.jsonl "
            "with a document of corpus.jsonl and a score above 0; check the ids"
        )
    return Dataset(root.name, corpus, queries, dict(list(qrels.items())[:limit]))


def _rows(path: Path, needed: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for number, line in _lines(path):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{path.name}, line {number}, is not JSON ({error}); mend that line") from None
        if not isinstance(row, dict) or any(key not in row for key in needed):
            raise ConfigError(f"{path.name}, line {number}, lacks {' or '.join(needed)}; the layout is BEIR's")
        yield row


def _judgments(path: Path) -> Iterator[tuple[str, str, int]]:
    for number, line in _lines(path):
        cells = line.split("\t")
        try:
            yield cells[0], cells[1], int(cells[2])
        except (IndexError, ValueError):
            if number > 1:  # the first line may be a heading
                raise ConfigError(
                    f"{path.name}, line {number}: write query-id, corpus-id and score with tabs"
                ) from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({error.strerror}); a dataset has corpus.jsonl, queries.jsonl, qrels.tsv"
        ) from None
    return lines_of(text)
