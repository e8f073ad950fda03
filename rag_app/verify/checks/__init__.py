"""Conflict checks: a claim beside the window of the source that is most like it. Each says pass, fail or unknown.

They are a channel of their own. A check that fails changes the verdict only when its name stands in `VETO`: those whose
false-flag rate on human-labeled data was measured and low enough (`benchmarks/verify/flags.py`); the others warn.
"""

from rag_app.types import Check
from rag_app.verify.checks.antonyms import check_antonyms
from rag_app.verify.checks.base import Aligned, align_claim
from rag_app.verify.checks.dates import check_dates
from rag_app.verify.checks.han import check_han_negation
from rag_app.verify.checks.negation import check_negation
from rag_app.verify.checks.numbers import check_numbers
from rag_app.verify.checks.parts import check_parts
from rag_app.verify.checks.quantifiers import check_modality, check_quantifiers
from rag_app.verify.checks.quotes import check_quotes
from rag_app.verify.checks.roles import check_roles
from rag_app.verify.checks.slots import check_slots
from rag_app.verify.checks.tables import check_tables
from rag_app.verify.source import IndexedSource
from rag_app.verify.support import Support

CHECKS = (
    check_numbers,
    check_dates,
    check_negation,
    check_han_negation,
    check_antonyms,
    check_slots,
    check_quantifiers,
    check_modality,
    check_roles,
    check_quotes,
    check_tables,
    check_parts,
)


def run_checks(claim: str, source: IndexedSource, support: Support) -> tuple[Check, ...]:
    """Every check of `claim` against the window that supports it best; none without a window."""
    if support.best < 0:
        return ()
    aligned = align_claim(claim, source, support)
    return tuple(found for check in CHECKS for found in check(aligned))


__all__ = ["CHECKS", "Aligned", "align_claim", "run_checks"]
