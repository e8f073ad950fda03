"""Draw wrong verdicts of the lexical level to be read: the claim, the label of people, the verdict, the evidence.

    python benchmarks/verify/wrong.py DATA [--count 50] [--seed 0]

DATA holds NAME/claims.jsonl of the four human-labeled sets; the draw is uniform over all wrong verdicts.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from rag_app.verify import Verifier

SETS = ("ab_dev", "wice_dev", "qags_xsum", "scifact_claims_train")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    verifier, wrong = Verifier(), []
    for name in SETS:
        for line in (options.data / name / "claims.jsonl").open(encoding="utf-8"):
            row = json.loads(line)
            verdict = verifier.verify_claim(row["claim"], [row["source"]])
            if (verdict.label == "supported") != bool(row["label"]):
                wrong.append((name, row, verdict))
    for name, row, verdict in random.Random(options.seed).sample(wrong, min(options.count, len(wrong))):
        failed = [f"{c.name}: {c.claim_value} / {c.source_value}" for c in verdict.checks if c.outcome == "fail"]
        print(f"\n== {name} {row['id']}: people {'supported' if row['label'] else 'not supported'}, we {verdict.label}")
        print(f"claim: {row['claim']}\nscore {verdict.score:.2f} {verdict.reason} {failed}")
        for evidence in verdict.evidence[:2]:
            print(f"evidence: {evidence.text[:300]}")
    print(f"\n{len(wrong)} wrong verdicts in all")


if __name__ == "__main__":
    main()
