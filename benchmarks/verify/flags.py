"""How often each check fails: on supported and unsupported human-labeled claims, and on edited ones by kind of edit.

    python benchmarks/verify/flags.py DATA [LIMIT]

A check may turn a verdict only when it flags few supported claims of ab_dev and wice_dev; this prints the rates that
`rag_app.verify.lexical.VETO` rests on, and the balanced accuracy with each check alone allowed to veto.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from rag_app.verify.checks import run_checks
from rag_app.verify.lexical import Thresholds
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import support_of, without_markers

SETS = ("ab_dev", "wice_dev", "perturb_dev")


def main() -> None:
    folder, limit = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10**9
    cut = Thresholds.default().supported
    for name in SETS:
        rows = [json.loads(line) for line in (folder / name / "claims.jsonl").open(encoding="utf-8")][:limit]
        sources: dict[str, IndexedSource] = {}
        kinds, flags, base = [], defaultdict(list), []
        for number, row in enumerate(rows):
            source = sources.setdefault(row["source"], IndexedSource(row["source"]))
            support = support_of(row["claim"], source)
            failed = {c.name for c in run_checks(without_markers(row["claim"]), source, support) if c.outcome == "fail"}
            base.append(support.score >= cut)
            kinds.append(row.get("kind", "supported" if row["label"] else "unsupported"))
            for check in failed:
                flags[check].append(number)
        kinds_, base_, labels = np.array(kinds), np.array(base), np.array([row["label"] for row in rows], dtype=bool)
        print(f"\n{name}: {len(rows)} claims, support alone {accuracy(base_, labels):.1f}, "
              f"supported kept {100 * base_[labels].mean():.0f} %")  # fmt: skip
        every = np.zeros(len(rows), dtype=bool)
        for check, places in sorted(flags.items()):
            mask = np.zeros(len(rows), dtype=bool)
            mask[places] = True
            every |= mask
            show(check, mask, kinds_, base_, labels)
        show("all", every, kinds_, base_, labels)


def show(check: str, mask: np.ndarray, kinds: np.ndarray, base: np.ndarray, labels: np.ndarray) -> None:
    rates = {str(kind): f"{100 * mask[kinds == kind].mean():.1f}" for kind in np.unique(kinds)}
    print(f"  {check:<12} flags % {rates}  with veto {accuracy(base & ~mask, labels):.1f}")


def accuracy(supported: np.ndarray, labels: np.ndarray) -> float:
    return 50 * float(supported[labels].mean() + (~supported[~labels]).mean())


if __name__ == "__main__":
    main()
