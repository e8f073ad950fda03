"""RGB (Chen et al., AAAI 2024), its factual questions, as folders that `rag-app index` and `rag-app eval answers` read.

    python benchmarks/answers/rgb.py DATA/rgb/en_fact FOLDER

Writes FOLDER/true: the corpus, one text file a passage; FOLDER/wrong: the passages whose answer was exchanged for a
wrong one; FOLDER/qa.jsonl: the questions with their gold passages; FOLDER/qa_both.jsonl: the same with the wrong answer
as the other version, to be asked of an index of both folders; FOLDER/qa_missing.jsonl: the same as unanswerable
questions, to be asked of an index of FOLDER/missing, the corpus without any passage that holds an answer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_app.evaluate.answers import holds_answer


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def write_texts(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def question(row: dict[str, Any], **more: Any) -> dict[str, Any]:
    gold = {"answers": row["answers"], "answerable": True, "passages": row["positive"]}
    return {"id": row["id"], "question": row["question"], **gold, **more}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    asked = list(lines(options.data / "qa.jsonl"))
    corpus = {row["_id"]: row["text"] for row in lines(options.data / "corpus.jsonl")}
    gold = {text for row in asked for text in row["positive"]}
    answers = [answer for row in asked for answer in row["answers"]]
    wrong = {f"{row['id']}-{n}": text for row in asked for n, text in enumerate(row["positive_wrong"])}
    write_texts(options.folder / "true", corpus)
    write_texts(options.folder / "wrong", wrong)
    missing = {name: text for name, text in corpus.items() if text not in gold and not holds_answer(text, answers)}
    write_texts(options.folder / "missing", missing)
    write_rows(options.folder / "qa.jsonl", [question(row) for row in asked])
    both = [question(row, other_answers=[row["fake_answer"]]) for row in asked]
    write_rows(options.folder / "qa_both.jsonl", both)
    write_rows(options.folder / "qa_missing.jsonl", [question(row, answerable=False) for row in asked])


if __name__ == "__main__":
    main()
