"""Evidence hit@1 on WiCE: how often the first evidence of a verdict is one of the sentences that people marked.

    python benchmarks/verify/hit.py DATA/wice_dev/claims.jsonl

A source of WiCE has one sentence a line, and `evidence` has the sets of lines that people found needed; claims without
any set are left out.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

from rag_app.verify import Verifier


def main() -> None:
    verifier, hits, count = Verifier(), 0, 0
    for row in map(json.loads, Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()):
        wanted = {line for lines in row["evidence"] for line in lines}
        if not wanted:
            continue
        count += 1
        starts = list(accumulate((len(line) + 1 for line in row["source"].split("\n")), initial=0))
        evidence = verifier.verify_claim(row["claim"], [row["source"]]).evidence
        hits += bool(evidence) and bisect_right(starts, evidence[0].start) - 1 in wanted
    print(json.dumps({"claims": count, "hit@1": round(100 * hits / max(1, count), 1)}))


if __name__ == "__main__":
    main()
