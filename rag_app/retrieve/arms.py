"""How far each arm can be trusted on this corpus, and the fusion weights that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Trust in the dense arm rises from 0 to 1 between these two values of `signal`. English corpora lie above .75; the same
# embedder on German text, where fusion does harm, below .45.
_DOUBT, _TRUST = 0.45, 0.70
# Dense over BM25 self-retrieval: where token vectors begin to help, and where they may have their whole say.
_BEHIND, _LEVEL = 0.9, 1.05
_PIECE_COST = 0.5
_USUAL_PIECES = 1.2
_UNKNOWN_RATIO = 0.9  # of a corpus too small to measure


def signal(ratio: float, pieces_per_word: float) -> float:
    """One number from two that mislead alone: dense over BM25 self-retrieval, less a cost for broken words.

    A tokenizer that breaks words into many pieces has not seen the language, yet its embedder may find a sentence's own
    chunk by the pieces they share.
    """
    return ratio - _PIECE_COST * max(0.0, pieces_per_word - _USUAL_PIECES)


def trust(notes: Mapping[str, Any]) -> float:
    """Trust in the dense arm, in [0, 1], from the index's notes; 1 where nothing was measured."""
    found = notes.get("arms")
    if not found or found.get("pieces_per_word") is None:
        return 1.0
    ratio = found.get("ratio")
    value = signal(_UNKNOWN_RATIO if ratio is None else float(ratio), float(found["pieces_per_word"]))
    return min(1.0, max(0.0, (value - _DOUBT) / (_TRUST - _DOUBT)))


def refinement(notes: Mapping[str, Any]) -> float:
    """How far token vectors of the embedder may reorder a fused ranking, in [0, 1]; a reranker reads it in the trace.

    They refine an order where the embedder finds sentences as well as BM25 does (xquad/en), and spoil it where it does
    not (Cranfield's formulas). Nothing measured: as far as the embedder is trusted.
    """
    ratio = (notes.get("arms") or {}).get("ratio")
    if ratio is None:
        return trust(notes)
    return trust(notes) * min(1.0, max(0.0, (float(ratio) - _BEHIND) / (_LEVEL - _BEHIND)))


def auto_weights(notes: Mapping[str, Any], *, fusion: str = "rrf") -> dict[str, float]:
    """The weights of "bm25" and "dense" that the notes call for; what full trust means was fixed on SciFact train.

    With k = 20 a dense weight of .9 was best there, and below 1 BM25 breaks the ties between equal ranks. Ranks do not
    say how sure an arm is, so a distrusted arm must leave reciprocal rank fusion (it then only orders what BM25 did not
    find); scaled scores do, so it keeps a part of a linear fusion.
    """
    belief = trust(notes)
    if fusion == "rrf":
        return {"bm25": 1.0, "dense": round(0.001 + 0.899 * belief, 4)}
    dense = round(0.2 + 0.4 * belief, 4)
    return {"bm25": round(1 - dense, 4), "dense": dense}


def diagnosis(notes: Mapping[str, Any]) -> str | None:
    """A sentence for `info` and `doctor` when the embedder does not know the corpus; None when all is well."""
    if trust(notes) >= 0.5:
        return None
    found = notes["arms"]
    how = "" if found["ratio"] is None else f" and finds sentences {found['ratio']:.2f} times as well as BM25"
    return (
        "the embedder does not know this corpus's language: "
        f"it breaks a word into {found['pieces_per_word']:.1f} pieces{how}; "
        "searches lean on BM25, or take a multilingual embedder (`rag-app models`)"
    )


__all__ = ["auto_weights", "diagnosis", "refinement", "signal", "trust"]
