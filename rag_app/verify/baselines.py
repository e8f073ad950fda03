"""Two trivial support scores to stand beside: the share of a claim's words in the source, plain and weighted."""

from __future__ import annotations

from rag_app.verify.words import weight, words_of


def rouge_1(claim: str, source: str) -> float:
    """ROUGE-1 precision of the claim: the share of its words that the source has; 0 for an empty claim."""
    ours, theirs = [word.stem for word in words_of(claim)], {word.stem for word in words_of(source)}
    return sum(stem in theirs for stem in ours) / len(ours) if ours else 0.0


def idf_coverage(claim: str, source: str) -> float:
    """The same, each distinct word weighing its self-information."""
    ours, theirs = {word.stem for word in words_of(claim)}, {word.stem for word in words_of(source)}
    total = sum(weight(stem) for stem in ours)
    return sum(weight(stem) for stem in ours & theirs) / total if total else 0.0
