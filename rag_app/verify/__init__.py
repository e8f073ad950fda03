"""Verification: claim by claim, what the evidence says. Levels: lexical (no model), entailment, llm.

`Verifier` is imported when it is first asked for: `rag_app.verify.lexical` alone needs no Runnable and starts quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_app.verify.report import VerificationReport
    from rag_app.verify.verifier import Verifier

    Verification = Verifier

__all__ = ["Verification", "VerificationReport", "Verifier"]


def __getattr__(name: str) -> Any:
    if name in ("Verifier", "Verification"):
        from rag_app.verify.verifier import Verifier

        return Verifier
    if name == "VerificationReport":
        from rag_app.verify.report import VerificationReport

        return VerificationReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
