"""The report on a whole answer: shares, never NaN, each None where nothing could be counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rag_app.types import Verdict, to_json


@dataclass(frozen=True, slots=True)
class Superfluous:
    """A marker that its claim does not need: the others support the claim without it, and it alone does not."""

    claim: int
    marker: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Sources that disagree about a claim: `supporting` and `contradicting` are their numbers."""

    claim: int
    supporting: tuple[int, ...]
    contradicting: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """What was found about an answer. `text` is what the policy made of it; with policy "flag" it is untouched.

    `groundedness`: share of the factual claims that all the evidence together supports. `citation_recall`: share of
    the factual claims that their own citations support; `citation_precision`: share of the citations that support
    their claim alone or are needed for it (Gao et al., ALCE, EMNLP 2023). `checkable_share`: share of the statements
    that are factual and could be judged. Every share is in [0, 1], or None when there is nothing to count.
    Where an abstention took the place of a text, this is `withdrawn`: verdicts, their spans, and figures are of it.
    `abstention`: None | "abstained" | "abstained although answerable" | "answered although not".
    """

    text: str
    verdicts: tuple[Verdict, ...]
    level: str = "lexical"
    groundedness: float | None = None
    citation_recall: float | None = None
    citation_precision: float | None = None
    checkable_share: float | None = None
    phantoms: tuple[str, ...] = ()
    superfluous: tuple[Superfluous, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    abstention: str | None = None
    abstained: bool = False
    withdrawn: str = ""
    actions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    def unsupported(self) -> tuple[Verdict, ...]:
        """The verdicts on factual claims that are not supported."""
        return tuple(v for v in self.verdicts if v.claim.kind == "factual" and v.label != "supported")

    def summary(self) -> dict[str, Any]:
        """The figures and findings as plain values, without the verdicts and the text."""
        value: dict[str, Any] = to_json(self)
        for key in ("verdicts", "text"):
            del value[key]
        value["labels"] = {
            label: sum(v.label == label for v in self.verdicts) for label in sorted({v.label for v in self.verdicts})
        }
        return value

    def _repr_html_(self) -> str:
        """The text with its claims, beside the sentences that its verdicts rest on."""
        from rag_app.html import report_html

        found = dict.fromkeys((e.source, e.text, e.start) for v in self.verdicts for e in v.evidence[:1])
        return report_html(self.text, self.verdicts, list(found), withdrawn=self.withdrawn)


def share(part: int, whole: int) -> float | None:
    """part / whole; None when there is nothing to count."""
    return part / whole if whole else None


def abstention_outcome(verdicts: Sequence[Verdict]) -> str | None:
    """Whether the answer abstained, and whether it should have."""
    abstentions = [v for v in verdicts if v.claim.kind == "abstention"]
    factual = [v for v in verdicts if v.claim.kind == "factual"]
    if any(v.label == "contradicted" for v in abstentions):
        return "abstained although answerable"
    if abstentions and not factual:
        return "abstained"
    if factual and all(v.label in ("not_found", "not_checkable") for v in factual):
        return "answered although not"
    return None
