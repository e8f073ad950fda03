"""Write rag_app/verify/common_words.txt: stems of common English words, most frequent first.

    python benchmarks/verify/common_words.py VOCAB.txt

VOCAB.txt is the vocabulary of bert-base-uncased (Apache-2.0), which is ordered by frequency; only the order of common
words is taken. A packaged all-MiniLM-L6-v2 holds the same file. Words of one letter and word pieces are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rag_app.verify.words import stem

SIZE = 6000
OUT = Path(__file__).resolve().parents[2] / "rag_app" / "verify" / "common_words.txt"


def main() -> None:
    words = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    stems: dict[str, None] = {}
    for word in words[words.index("the") :]:
        if word.isascii() and word.isalpha() and len(word) > 1:
            stems.setdefault(stem(word))
    OUT.write_text("\n".join(list(stems)[:SIZE]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
