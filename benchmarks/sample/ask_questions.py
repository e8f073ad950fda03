"""Ask the 40 sample questions and say how many gold documents, passages and abstentions came out right.

    python benchmarks/sample/ask_questions.py [--config PRESET] [--set stage.key=value ...] [--rows]

`document hit@5`: one of the first five chunks comes from a gold document. `passage hit@5`: one of them overlaps a gold
passage. `cited`: a citation overlaps a gold passage, of the answerable questions that were answered. One JSON object;
with `--rows`, one more a question before it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from typing import Any

from rag_app.answer import Answer
from rag_app.pipeline import build_chain, build_index
from rag_app.sample import Question, documents_path, questions
from rag_app.settings import Settings
from rag_app.types import Span


def judged(question: Question, answer: Answer) -> dict[str, Any]:
    """What came out for one question, against its gold passages."""
    best = answer.evidence[:5]
    touched = [(p.source, Span(p.start, p.end)) for p in best]
    cited = [(c.source, c.span) for c in answer.citations]
    return {
        "id": question.id,
        "kind": question.kind,
        "answerable": question.answerable,
        "document": any(source == gold.source for source, _ in touched for gold in question.gold),
        "passage": overlaps(touched, question),
        "cited": overlaps(cited, question),
        "abstained": answer.abstained,
        "reason": answer.abstention_reason,
        "confidence": answer.confidence,
        "question": question.question,
        "text": answer.text,
    }


def overlaps(places: list[tuple[str, Span]], question: Question) -> bool:
    """Whether any place shares a character with any gold passage."""
    return any(source == gold.source and span.overlaps(gold.span) for source, span in places for gold in question.gold)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures over all questions; shares in [0, 1]."""
    good = [row for row in rows if row["answerable"]]
    bad = [row for row in rows if not row["answerable"]]
    answered = [row for row in good if not row["abstained"]]
    return {
        "answerable": len(good),
        "document_hit@5": sum(row["document"] for row in good) / len(good),
        "passage_hit@5": sum(row["passage"] for row in good) / len(good),
        "refused": len(good) - len(answered),
        "cited": sum(row["cited"] for row in answered) / max(1, len(answered)),
        "unanswerable": len(bad),
        "abstained": sum(row["abstained"] for row in bad),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config")
    parser.add_argument("--set", action="append", default=[], dest="sets")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args()
    settings = Settings.resolve(options.config, options.sets)
    with tempfile.TemporaryDirectory() as folder:
        index, _ = build_index(settings, [documents_path()], f"{folder}/sample.index")
        chain = build_chain(settings, index)
        rows = [judged(question, chain.invoke(question.question)) for question in questions()]
    for row in rows if options.rows else ():
        print(json.dumps(row, ensure_ascii=False))
    print(json.dumps(summary(rows)))


if __name__ == "__main__":
    main()
