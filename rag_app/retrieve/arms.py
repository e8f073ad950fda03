"""How far each arm can be trusted on this corpus, found out without judgments, and the fusion weights that follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The trust in the dense arm rises from 0 to 1 between these two values of `signal`. Fixed on the trial figures of
# SciFact train (full trust) and on what no English corpus shows (more than 2 pieces a word).
_DOUBT, _TRUST = 0.45, 0.70
_PIECE_COST = 0.5
_USUAL_PIECES = 1.2


def signal(ratio: float, pieces_per_word: float) -> float:
    """One number from two that mislead alone: dense over BM25 self-retrieval, less a cost for broken words.

    A tokenizer that breaks words into many pieces has not seen the language; an embedder may still place a sentence
    near its own chunk by the words it shares. High is good; English corpora lie above .7.
    """
    return ratio - _PIECE_COST * max(0.0, pieces_per_word - _USUAL_PIECES)


def trust(notes: Mapping[str, Any]) -> float:
    """Trust in the dense arm, in [0, 1], from the index's notes; 1 where nothing was measured."""
    found = notes.get("arms")
    if not found or found.get("ratio") is None or found.get("pieces_per_word") is None:
        return 1.0
    value = signal(float(found["ratio"]), float(found["pieces_per_word"]))
    return min(1.0, max(0.0, (value - _DOUBT) / (_TRUST - _DOUBT)))


def auto_weights(notes: Mapping[str, Any], *, fusion: str = "rrf") -> dict[str, float]:
    """The weights of "bm25" and "dense" that the notes call for.

    Ranks do not say how sure an arm is, so a distrusted arm must almost leave reciprocal rank fusion (it then only
    orders what BM25 did not find); scaled scores do, so it keeps a small share of a linear fusion.
    """
    belief = trust(notes)
    if fusion == "rrf":
        return {"bm25": 1.0, "dense": 0.02 + 0.98 * belief}
    dense = 0.15 + 0.35 * belief
    return {"bm25": 1 - dense, "dense": dense}


def diagnosis(notes: Mapping[str, Any]) -> str | None:
    """A sentence for `info` and `doctor` when the embedder does not know the corpus; None when all is well."""
    belief = trust(notes)
    if belief >= 0.5:
        return None
    found = notes["arms"]
    return (
        f"the embedder does not know this corpus's language: it breaks a word into {found['pieces_per_word']:.1f} "
        f"pieces and finds sentences {found['ratio']:.2f} times as well as BM25; "
        "searches lean on BM25, or take a multilingual embedder (`rag-app models`)"
    )
