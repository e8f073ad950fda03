"""Verification: claim by claim, what the evidence says. Levels: lexical (no model), entailment, llm.

`rag_app.verify.lexical` alone needs no Runnable and starts quickly.
"""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.verify.claimify import Claimifier
    from rag_app.verify.members import Verification
    from rag_app.verify.report import VerificationReport
    from rag_app.verify.verifier import Verifier

__all__ = ["Claimifier", "Verification", "VerificationReport", "Verifier"]

__getattr__ = lazy_names(
    __name__,
    {
        "claimify": ("Claimifier",),
        "members": ("Verification",),
        "report": ("VerificationReport",),
        "verifier": ("Verifier",),
    },
)
