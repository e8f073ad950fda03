"""Rankings on collections in BEIR layout, as `rag-app eval retrieval` measures them: JSON lines, then a table.

usage: python benchmarks/retrieval/run.py DATA [--sets scifact ...] [--rankings bm25,dense,hybrid] [--keep DIR]
           [-- OPTIONS OF rag-app eval retrieval, such as --set retrieve.fusion=linear]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

SETS = ("scifact", "cranfield", "xquad/en", "xquad/de", "xquad/zh")


def main() -> None:
    own, _, rest = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--rankings", default="bm25,dense,hybrid")
    parser.add_argument("--keep", type=Path, default=None, help="where indexes are kept, to be used again")
    options = parser.parse_args(own.split())
    table: dict[str, dict[str, float]] = {}
    for name in options.sets:
        command = ["rag-app", "eval", "retrieval", str(options.data / name), "--rankings", options.rankings, "--json"]
        if options.keep is not None:
            command += ["--index", str(options.keep / name.replace("/", "_"))]
        done = subprocess.run([*command, *rest.split()], capture_output=True, text=True, check=False)
        if done.returncode:
            print(json.dumps({"set": name, "error": done.stderr.strip()}), flush=True)
            continue
        report = json.loads(done.stdout)
        print(json.dumps({"set": name, **report}), flush=True)
        table[name] = {ranking: values["nDCG@10"] for ranking, values in report["rankings"].items()}
    print("| nDCG@10 | " + " | ".join(options.rankings.split(",")) + " |")
    print("|---|" + "---|" * len(options.rankings.split(",")))
    for name, values in table.items():
        print(f"| {name} | " + " | ".join(f"{value:.4f}" for value in values.values()) + " |")


if __name__ == "__main__":
    main()
